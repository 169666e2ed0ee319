// Two goroutines that each count for themselves and tell the sum once.
package main

import "fmt"

func count(upto int, tell chan<- int) {
	sum := 0
	for i := 0; i < upto; i++ {
		sum ^= i*i + sum>>3
	}
	tell <- sum
}

func main() {
	tell := make(chan int)
	go count(200000000, tell)
	go count(200000000, tell)
	fmt.Println(<-tell + <-tell)
}
