"""What is to be translated: instances that may say something, read at what inference knows."""
