"""Rules induced from tables against trees and logistic regressions."""
