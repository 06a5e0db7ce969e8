# Tables from which typed functions are generated.
