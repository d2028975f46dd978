"""What a site says about the use of its content, by standard, and what follows for one use.

Pure functions over robots.txt, headers, markup and documents; fetching and storing are done above.
"""
