package eureka

// Order lists the registries' roots in the order in which they are asked.
func Order(s ServerSettings) ([]string, error) {
	endpoints, err := s.endpoints()
	var order []string
	for _, e := range endpoints {
		order = append(order, e.String())
	}
	return order, err
}
