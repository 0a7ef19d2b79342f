# Grüße
def greet():
    return "Grüße"
