package gozer_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gozer-gateway/gozer/config"
)

// manifest is what the test looks at of a document in deploy/kubernetes.yaml.
type manifest struct {
	Kind string
	Data map[string]string
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args []string
				}
			}
		}
	}
}

// The configuration in the manifest is good, and the times around it fit to it.
func TestKubernetesManifest(t *testing.T) {
	f, err := os.Open("deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kinds := map[string]manifest{}
	for d := yaml.NewDecoder(f); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds[m.Kind] = m
	}
	for _, kind := range []string{"ConfigMap", "Deployment", "Service", "PodDisruptionBudget"} {
		if kinds[kind].Kind == "" {
			t.Errorf("there is no %s", kind)
		}
	}
	cfg, report := config.Parse("gateway.yaml", []byte(kinds["ConfigMap"].Data["gateway.yaml"]), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(report)
	}
	longest := cfg.Gateway.Shutdown.Wait + max(cfg.Server.DrainTimeout, cfg.StreamGrace()) + 8*time.Second
	if grace := time.Duration(kinds["Deployment"].Spec.Template.Spec.Grace) * time.Second; grace < longest {
		t.Errorf("pods are killed after %s, a shutdown may take %s", grace, longest)
	}
	if args := kinds["Deployment"].Spec.Template.Spec.Containers[0].Args; len(args) == 0 || args[0] != "run" {
		t.Errorf("the container runs %q", args)
	}
}

// systemd finds nothing wrong with the units, once their program exists.
func TestSystemdUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"gateway.service", "gateway.socket"} {
		text, err := os.ReadFile(filepath.Join("deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, filepath.Join(dir, name))
		unit := strings.ReplaceAll(string(text), "/usr/local/bin/gateway", program)
		if err := os.WriteFile(units[len(units)-1], []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, append([]string{"verify", "--man=no"}, units...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir) {
			t.Error(line)
		}
	}
}
