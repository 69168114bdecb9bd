module oriel.dev/bench/outside

go 1.22
