"""Labels -> parameters that meet them: start at `gradient_descent`; `fitting_problem` is what it minimises."""
