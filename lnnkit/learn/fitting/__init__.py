"""Values of parameters that meet the labels: start at `gradient_descent`; `fitting_problem` has what it minimises."""
