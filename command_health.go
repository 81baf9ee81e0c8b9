package gozer

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// healthPatience is how long the health command waits for an answer.
const healthPatience = 3 * time.Second

// health is the command "gateway health": the container's health check, for
// images that have no curl.
func (c *command) health(ctx context.Context, args []string) int {
	f := c.flags("health")
	target := f.set.String("url", "http://127.0.0.1:8081/actuator/health/readiness", "health endpoint to ask")
	if code, ok := f.parse(args); !ok {
		return code
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *target, http.NoBody)
	if err != nil {
		return c.fail(err)
	}
	client := &http.Client{}
	res, err := client.Do(req)
	if err != nil {
		return c.fail(err)
	}
	defer res.Body.Close()
	fmt.Fprintln(c.out, res.Status)
	if res.StatusCode != http.StatusOK {
		return exitFailure
	}
	return exitOK
}
