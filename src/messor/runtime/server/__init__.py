"""How do the doors stay open to members while strangers lean on them?"""
