"""The pages. Each is one folder that declares itself in `page.py`; `registry` lists them."""
