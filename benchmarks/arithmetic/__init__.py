"""The tables of the neural arithmetic papers, reproduced and beaten."""
