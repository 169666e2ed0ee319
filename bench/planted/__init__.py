"""Small servers and libraries whose shared lines were counted before linemate judged them."""
