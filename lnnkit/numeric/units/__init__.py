"""The arithmetic units as torch modules, and what their trained weights say. In: operands as tensors;
out: tensors with gradients. Inference computes units by the terms of `lnnkit.numeric` and imports none of these."""
