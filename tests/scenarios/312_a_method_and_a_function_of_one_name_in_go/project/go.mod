module example.test/errors

go 1.20
