package config_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

func TestPlatform(t *testing.T) {
	tests := []struct {
		name, platform string
		env, set       []string
		applies        bool
	}{
		{"nothing tells", "kubernetes", nil, nil, false},
		{"Kubernetes", "kubernetes", []string{"KUBERNETES_SERVICE_HOST=h", "KUBERNETES_SERVICE_PORT=443"}, nil, true},
		{"any service of Kubernetes", "Kubernetes", []string{"DB_SERVICE_HOST=h", "DB_SERVICE_PORT=1"}, nil, true},
		{"half of a service", "kubernetes", []string{"DB_SERVICE_HOST=h", "DBX_SERVICE_PORT=1"}, nil, false},
		{"Cloud Foundry", "cloud_foundry", []string{"VCAP_SERVICES={}"}, nil, true},
		{"the first of two", "kubernetes", []string{"VCAP_SERVICES={}", "DB_SERVICE_HOST=h", "DB_SERVICE_PORT=1"}, nil, false},
		{"Heroku", "HEROKU", []string{"DYNO=web.1"}, nil, true},
		{"SAP", "sap", []string{"HC_LANDSCAPE=x"}, nil, true},
		{"Nomad", "nomad", []string{"NOMAD_ALLOC_ID=x"}, nil, true},
		{"Azure", "azure-app-service", []string{"WEBSITE_SITE_NAME=a", "WEBSITE_INSTANCE_ID=b", "WEBSITE_RESOURCE_GROUP=c", "WEBSITE_SKU=d"}, nil, true},
		{"none is not found out", "none", nil, nil, false},
		{"none by variable", "none", []string{"SPRING_MAIN_CLOUDPLATFORM=none"}, nil, true},
		{"configured wins", "kubernetes", []string{"DYNO=web.1", "SPRING_MAIN_CLOUD_PLATFORM=kubernetes"}, nil, true},
		{"the command line wins", "kubernetes", []string{"SPRING_MAIN_CLOUD_PLATFORM=kubernetes"}, []string{"spring.main.cloud-platform=none"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := "server.port: 1\n---\nspring.config.activate.on-cloud-platform: " + tt.platform + "\nserver.port: 2\n"
			c, report := config.Parse("f.yaml", []byte(file), config.Options{Env: tt.env, Set: tt.set})
			if len(report.Findings()) > 0 {
				t.Errorf("report:\n%s", report)
			}
			if applies := c.Server.Port == 2; applies != tt.applies {
				t.Errorf("applies = %v", applies)
			}
		})
	}
}
