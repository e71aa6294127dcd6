"""What people ask for, a folder a command. It imports the protocol, never the other way."""
