"""The console: Messor in a browser, server-rendered and usable without JavaScript.

Each screen declares who may open it (`screens.get`, `screens.post`), and the guard enforces that.
Decisions and storage belong to the rooms below.
"""
