// Package clients drives a running server with Go's Kubernetes clients, unmodified.
//
// ORIEL_KUBECONFIG is a kubeconfig, ORIEL_WORKSPACE the URL of a workspace, ORIEL_CLUSTER the name of its logical cluster,
// ORIEL_VIEW the published URL of an export of widgets.example.com that this workspace binds, and that claims its config maps
// and leases. npm run test:go sets them.
package clients

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
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

// places are the workspace itself, and the same logical cluster as the view shows it.
var places = map[string][]string{
	"workspace": {"ORIEL_WORKSPACE"},
	"view":      {"ORIEL_VIEW", "/clusters/" + os.Getenv("ORIEL_CLUSTER")},
}

// inEveryForm runs a test in both places, with clients that speak JSON and clients that speak protobuf.
func inEveryForm(t *testing.T, test func(t *testing.T, config *rest.Config)) {
	for place, url := range places {
		for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			t.Run(place+" "+contentType, func(t *testing.T) {
				config := configAt(t, url...)
				config.ContentType = contentType
				config.AcceptContentTypes = contentType
				test(t, config)
			})
		}
	}
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
	inEveryForm(t, func(t *testing.T, config *rest.Config) {
		ctx := within(t)
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
		extracted, err := applycore.ExtractConfigMap(applied, "go")
		must(t, err)
		if len(extracted.Data) != 1 || extracted.Data["c"] != "3" {
			t.Fatalf("extracted: %v", extracted.Data)
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

// protobufConfig asks for protobuf and for nothing else.
func protobufConfig(t *testing.T) *rest.Config {
	config := configAt(t, "ORIEL_WORKSPACE")
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf
	return config
}

// What the server sends is byte by byte what Go's own encoder makes of it.
func TestProtobufIsGoProtobuf(t *testing.T) {
	ctx := within(t)
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	kube := kubernetes.NewForConfigOrDie(protobufConfig(t))
	name := fmt.Sprintf("protobuf-%d", time.Now().UnixNano())
	named := meta.ObjectMeta{
		Name: name, Labels: map[string]string{"b": "2", "a": "1"}, Annotations: map[string]string{"x": ""}, Finalizers: []string{"example.com/f"},
	}
	fail, ignore, none, immutable := admission.Fail, admission.Ignore, admission.SideEffectClassNone, false
	url, seconds := "https://example.com/hook", int32(7)
	rule := admission.RuleWithOperations{
		Operations: []admission.OperationType{admission.Create},
		Rule:       admission.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"*"}, Resources: []string{"deployments"}},
	}
	match := &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{ResourceNames: []string{"n"}, RuleWithOperations: rule}}}
	for path, object := range map[string]runtime.Object{
		"/api/v1/namespaces/default/configmaps":      &core.ConfigMap{ObjectMeta: named, Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 255}}, Immutable: &immutable},
		"/api/v1/namespaces/default/secrets":         &core.Secret{ObjectMeta: named, Data: map[string][]byte{"k": []byte("v")}},
		"/api/v1/namespaces/default/serviceaccounts": &core.ServiceAccount{ObjectMeta: named, ImagePullSecrets: []core.LocalObjectReference{{Name: "x"}}},
		"/api/v1/namespaces/default/resourcequotas":  &core.ResourceQuota{ObjectMeta: named, Spec: core.ResourceQuotaSpec{Hard: core.ResourceList{"count/widgets.example.com": resource.MustParse("5")}}},
		"/api/v1/namespaces":                         &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}},
		"/api/v1/namespaces/default/events":          &core.Event{ObjectMeta: named, InvolvedObject: core.ObjectReference{Namespace: "default"}, Reason: "r", Count: 3},
		"/apis/coordination.k8s.io/v1/namespaces/default/leases": &coordination.Lease{ObjectMeta: named, Spec: coordination.LeaseSpec{
			HolderIdentity: &url, LeaseDurationSeconds: &seconds, RenewTime: &meta.MicroTime{Time: time.Unix(1700000000, 123456000)}}},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles": &rbac.ClusterRole{ObjectMeta: named, Rules: []rbac.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}},
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": &rbac.ClusterRoleBinding{ObjectMeta: named, RoleRef: rbac.RoleRef{
			APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: name}, Subjects: []rbac.Subject{{Kind: "User", Name: "u"}}},
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": &admission.ValidatingWebhookConfiguration{ObjectMeta: named, Webhooks: []admission.ValidatingWebhook{{
			Name: "a.example.com", ClientConfig: admission.WebhookClientConfig{URL: &url}, Rules: []admission.RuleWithOperations{rule},
			FailurePolicy: &ignore, SideEffects: &none, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"}}}},
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": &admission.ValidatingAdmissionPolicy{ObjectMeta: named, Spec: admission.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail, MatchConstraints: match, Validations: []admission.Validation{{Expression: "true", Message: "m"}}}},
	} {
		must(t, kube.CoreV1().RESTClient().Post().AbsPath(path).Body(object).Do(ctx).Error())
		for _, read := range []string{path + "/" + name, path} {
			result := kube.CoreV1().RESTClient().Get().AbsPath(read).Do(ctx)
			var contentType string
			result.ContentType(&contentType)
			if contentType != runtime.ContentTypeProtobuf {
				t.Fatalf("%s came as %s", read, contentType)
			}
			sent, err := result.Raw()
			must(t, err)
			decoded, _, err := encoder.Decode(sent, nil, nil)
			must(t, err)
			again, err := runtime.Encode(encoder, decoded)
			must(t, err)
			if !bytes.Equal(sent, again) {
				t.Errorf("%s: Go writes\n%q instead of\n%q", read, again, sent)
			}
		}
	}
	if _, err := kube.CoreV1().ConfigMaps("default").Get(ctx, "nobody", meta.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("the error is %v", err)
	}
}

// A metadata client asks for protobuf first, also for custom resources.
func TestMetadataClient(t *testing.T) {
	ctx := within(t)
	objects := dynamic.NewForConfigOrDie(configAt(t, "ORIEL_WORKSPACE")).Resource(widgets).Namespace("default")
	name := fmt.Sprintf("metadata-%d", time.Now().UnixNano())
	_, err := objects.Create(ctx, widget(name), meta.CreateOptions{})
	must(t, err)
	client := metadata.NewForConfigOrDie(protobufConfig(t)).Resource(widgets).Namespace("default")
	found, err := client.Get(ctx, name, meta.GetOptions{})
	must(t, err)
	list, err := client.List(ctx, meta.ListOptions{})
	must(t, err)
	if found.Name != name || len(list.Items) == 0 || list.ResourceVersion == "" {
		t.Fatalf("found %v in %v", found, list)
	}
	changes, err := client.Watch(ctx, meta.ListOptions{ResourceVersion: list.ResourceVersion})
	must(t, err)
	defer changes.Stop()
	must(t, objects.Delete(ctx, name, meta.DeleteOptions{}))
	gone := next(ctx, t, changes.ResultChan(), func(event watch.Event) bool { return event.Type == watch.Deleted })
	if object, ok := gone.Object.(*meta.PartialObjectMetadata); !ok || object.Name != name {
		t.Fatalf("told of %v", gone.Object)
	}
}

// The informer opens with a watch list, as client-go does by default from 0.35 on, and has no need of another list.
func TestInformer(t *testing.T) { inEveryForm(t, followsConfigMaps) }

// asked records the queries of requests.
type asked struct {
	http.RoundTripper
	queries chan string
}

func (a asked) RoundTrip(request *http.Request) (*http.Response, error) {
	a.queries <- request.Method + " " + request.URL.RawQuery
	return a.RoundTripper.RoundTrip(request)
}

func followsConfigMaps(t *testing.T, config *rest.Config) {
	ctx := within(t)
	queries := make(chan string, 100)
	config.Wrap(func(transport http.RoundTripper) http.RoundTripper { return asked{transport, queries} })
	kube := kubernetes.NewForConfigOrDie(config)
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
	if first := <-queries; !strings.Contains(first, "sendInitialEvents=true") || len(queries) > 0 {
		t.Fatalf("it began with %s, and then %d more", first, len(queries))
	}
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

// A manager with leader election reconciles the widgets of a workspace, and every consumer's through the view.
func TestManager(t *testing.T) {
	t.Run("workspace", func(t *testing.T) { manages(t, places["workspace"], places["workspace"]) })
	t.Run("view", func(t *testing.T) { manages(t, []string{"ORIEL_VIEW", "/clusters/*"}, places["view"]) })
}

// manages reconciles what is at one place, and elects its leader at another.
func manages(t *testing.T, objects, election []string) {
	ctx, stop := context.WithCancel(within(t))
	defer stop()
	workspace := configAt(t, "ORIEL_WORKSPACE")
	skipNames := true
	manager, err := ctrl.NewManager(configAt(t, objects...), ctrl.Options{
		Controller:     config.Controller{SkipNameValidation: &skipNames},
		Scheme:         runtime.NewScheme(),
		Metrics:        server.Options{BindAddress: "0"},
		LeaderElection: true,
		// Whoever stops managing gives the lease back: that is a write, too.
		LeaderElectionReleaseOnCancel: true,
		LeaderElectionID:              fmt.Sprintf("widgets-%d", time.Now().UnixNano()),
		LeaderElectionNamespace:       "default",
		LeaderElectionConfig:          configAt(t, election...),
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
	ended := make(chan error, 1)
	go func() {
		ended <- manager.Start(ctx)
	}()
	<-manager.Elected()
	consumer, err := client.New(workspace, client.Options{})
	must(t, err)
	name := fmt.Sprintf("managed-%d", time.Now().UnixNano())
	must(t, consumer.Create(ctx, widget(name)))
	next(ctx, t, seen, func(request types.NamespacedName) bool { return request.Name == name })
	writesStatus(t, consumer, name)
	stop()
	must(t, <-ended)
}

// writesStatus replaces and then patches the status of a widget, which no other write changes.
func writesStatus(t *testing.T, consumer client.Client, name string) {
	ctx := within(t)
	object := widget(name)
	must(t, consumer.Get(ctx, client.ObjectKeyFromObject(object), object))
	must(t, unstructured.SetNestedField(object.Object, "Seen", "status", "phase"))
	must(t, consumer.Status().Update(ctx, object))
	before := object.DeepCopy()
	must(t, unstructured.SetNestedField(object.Object, int64(2), "status", "replicas"))
	must(t, consumer.Status().Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	must(t, unstructured.SetNestedField(object.Object, "Lost", "status", "phase"))
	must(t, consumer.Update(ctx, object))
	must(t, consumer.Get(ctx, client.ObjectKeyFromObject(object), object))
	status, _, err := unstructured.NestedMap(object.Object, "status")
	must(t, err)
	if status["phase"] != "Seen" || status["replicas"] != int64(2) {
		t.Fatalf("the status is %v", status)
	}
}
