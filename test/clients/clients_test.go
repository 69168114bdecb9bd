// Package clients drives a running server with Go's Kubernetes clients, unmodified.
//
// ORIEL_KUBECONFIG is a kubeconfig, ORIEL_WORKSPACE the URL of a workspace, ORIEL_VIEW the published URL of an export of
// widgets.example.com that this workspace binds. npm run test:go sets them.
package clients

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// configAt gives the administrator's credentials at one of the environment's URLs.
func configAt(t *testing.T, suffix ...string) *rest.Config {
	t.Helper()
	url := os.Getenv(suffix[0])
	if url == "" {
		t.Skipf("%s is not set: npm run test:go sets it", suffix[0])
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("ORIEL_KUBECONFIG"))
	must(t, err)
	config.Host = url
	for _, more := range suffix[1:] {
		config.Host += more
	}
	return config
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// next waits for a value that satisfies.
func next[T any](ctx context.Context, t *testing.T, values <-chan T, satisfies func(T) bool) T {
	t.Helper()
	for {
		select {
		case value := <-values:
			if satisfies(value) {
				return value
			}
		case <-ctx.Done():
			t.Fatal("the event did not come")
		}
	}
}

func TestTypedClient(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			ctx := within(t)
			config := configAt(t, "ORIEL_WORKSPACE")
			config.ContentType = contentType
			config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
			kube := kubernetes.NewForConfigOrDie(config)
			maps := kube.CoreV1().ConfigMaps("default")

			created, err := maps.Create(ctx, &core.ConfigMap{
				ObjectMeta: meta.ObjectMeta{GenerateName: "typed-"}, Data: map[string]string{"a": "1"},
			}, meta.CreateOptions{})
			must(t, err)
			created.Data["b"] = "2"
			updated, err := maps.Update(ctx, created, meta.UpdateOptions{})
			must(t, err)
			patched, err := maps.Patch(ctx, updated.Name, types.StrategicMergePatchType, []byte(`{"data":{"a":null}}`), meta.PatchOptions{})
			must(t, err)
			if len(patched.Data) != 1 || patched.Data["b"] != "2" {
				t.Fatalf("the patch left %v", patched.Data)
			}
			intent := applycore.ConfigMap(updated.Name, "default").WithData(map[string]string{"c": "3"})
			applied, err := maps.Apply(ctx, intent, meta.ApplyOptions{FieldManager: "go"})
			must(t, err)
			if applied.Data["c"] != "3" || len(applied.ManagedFields) == 0 {
				t.Fatalf("applied: %v", applied)
			}
			must(t, maps.Delete(ctx, updated.Name, meta.DeleteOptions{Preconditions: meta.NewUIDPreconditions(string(updated.UID))}))

			now := meta.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC))
			lease, err := kube.CoordinationV1().Leases("default").Create(ctx, &coordination.Lease{
				ObjectMeta: meta.ObjectMeta{GenerateName: "typed-"}, Spec: coordination.LeaseSpec{RenewTime: &now},
			}, meta.CreateOptions{})
			must(t, err)
			if !lease.Spec.RenewTime.Equal(&now) {
				t.Fatalf("microseconds: %v is not %v", lease.Spec.RenewTime, now)
			}
		})
	}
}

// The informer opens with a watch list, as client-go does by default from 0.35 on.
func TestInformer(t *testing.T) {
	ctx := within(t)
	kube := kubernetes.NewForConfigOrDie(configAt(t, "ORIEL_WORKSPACE"))
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	events := make(chan string, 100)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events <- "add " + object.(*core.ConfigMap).Name },
		UpdateFunc: func(_, object any) { events <- "update " + object.(*core.ConfigMap).Name },
		DeleteFunc: func(object any) { events <- "delete " + object.(*core.ConfigMap).Name },
	})
	must(t, err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	maps := kube.CoreV1().ConfigMaps("default")
	created, err := maps.Create(ctx, &core.ConfigMap{ObjectMeta: meta.ObjectMeta{GenerateName: "informer-"}}, meta.CreateOptions{})
	must(t, err)
	is := func(event string) func(string) bool {
		return func(seen string) bool { return seen == event+" "+created.Name }
	}
	next(ctx, t, events, is("add"))
	created.Data = map[string]string{"a": "b"}
	_, err = maps.Update(ctx, created, meta.UpdateOptions{})
	must(t, err)
	next(ctx, t, events, is("update"))
	must(t, maps.Delete(ctx, created.Name, meta.DeleteOptions{}))
	next(ctx, t, events, is("delete"))
}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"color": "blue"},
	}}
}

func TestInformerThroughTheView(t *testing.T) {
	ctx := within(t)
	view := dynamic.NewForConfigOrDie(configAt(t, "ORIEL_VIEW", "/clusters/*"))
	consumer := dynamic.NewForConfigOrDie(configAt(t, "ORIEL_WORKSPACE")).Resource(widgets).Namespace("default")
	factory := dynamicinformer.NewDynamicSharedInformerFactory(view, 0)
	events := make(chan *unstructured.Unstructured, 100)
	_, err := factory.ForResource(widgets).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { events <- object.(*unstructured.Unstructured) },
	})
	must(t, err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	name := fmt.Sprintf("seen-%d", time.Now().UnixNano())
	_, err = consumer.Create(ctx, widget(name), meta.CreateOptions{})
	must(t, err)
	seen := next(ctx, t, events, func(object *unstructured.Unstructured) bool { return object.GetName() == name })
	if seen.GetAnnotations()["kcp.io/cluster"] == "" {
		t.Fatalf("no logical cluster: %v", seen)
	}
}

// A manager with leader election reconciles every consumer's widgets through the view.
func TestManagerThroughTheView(t *testing.T) {
	ctx := within(t)
	workspace := configAt(t, "ORIEL_WORKSPACE")
	manager, err := ctrl.NewManager(configAt(t, "ORIEL_VIEW", "/clusters/*"), ctrl.Options{
		Scheme:                  runtime.NewScheme(),
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "widgets",
		LeaderElectionNamespace: "default",
		LeaderElectionConfig:    workspace,
	})
	must(t, err)
	seen := make(chan types.NamespacedName, 100)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	must(t, ctrl.NewControllerManagedBy(manager).For(object).Complete(
		reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			seen <- request.NamespacedName
			return reconcile.Result{}, nil
		})))
	go func() {
		if err := manager.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	<-manager.Elected()
	consumer, err := client.New(workspace, client.Options{})
	must(t, err)
	name := fmt.Sprintf("managed-%d", time.Now().UnixNano())
	must(t, consumer.Create(ctx, widget(name)))
	next(ctx, t, seen, func(request types.NamespacedName) bool { return request.Name == name })
}
