"""Protobuf: its schemas, the columns of a message, and which changes keep it readable."""
