"""The console: Messor in a browser, server-rendered and usable without JavaScript.

A screen declares who may see it (`screens.get`, `screens.post`); the guard keeps to that. What is
decided and stored is the rooms' below.
"""
