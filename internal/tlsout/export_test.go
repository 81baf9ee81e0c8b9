package tlsout

import "time"

// AwaitVerdict lets a server take so long to say what it thinks of the client's certificate.
func (c *Client) AwaitVerdict(limit time.Duration) { c.verdictWait = limit }
