// Checks whether a history of reads and writes of single keys is linearizable. The history is what test/faults/history.ts
// records: a JSON list of operations. Versions of objects are not used, so that this check and that of history.ts share nothing.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a request as its client saw it. Ended is absent when the outcome is unknown; times are in milliseconds.
type operation struct {
	Client int      `json:"client"`
	Kind   string   `json:"kind"`
	Key    string   `json:"key"`
	Value  string   `json:"value"`
	Begun  float64  `json:"begun"`
	Ended  *float64 `json:"ended"`
}

// register is one key: a read returns the value of the latest write.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		op := input.(operation)
		if op.Kind == "write" {
			return true, op.Value
		}
		return op.Value == state.(string), state
	},
}

const limit = 5 * time.Minute

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all []operation
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	byKey := map[string][]porcupine.Operation{}
	for _, op := range all {
		byKey[op.Key] = append(byKey[op.Key], converted(op))
	}
	for key, history := range byKey {
		if result := porcupine.CheckOperationsTimeout(register, history, limit); result != porcupine.Ok {
			return fmt.Errorf("%s: %d operations: %s", key, len(history), result)
		}
	}
	fmt.Printf("%d operations on %d keys: linearizable\n", len(all), len(byKey))
	return nil
}

// converted: a write with an unknown outcome may be executed at any later time.
func converted(op operation) porcupine.Operation {
	ended := int64(math.MaxInt64)
	if op.Ended != nil {
		ended = nanoseconds(*op.Ended)
	}
	return porcupine.Operation{ClientId: op.Client, Input: op, Call: nanoseconds(op.Begun), Return: ended}
}

func nanoseconds(milliseconds float64) int64 { return int64(milliseconds * 1e6) }
