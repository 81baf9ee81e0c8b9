package rest_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
