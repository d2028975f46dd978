"""The interface for agents: tools over the Model Context Protocol.

It needs the package `mcp` (the extra of the same name). What comes from pages is in the field `data`
alone, in bounded pages with a cursor.
"""
