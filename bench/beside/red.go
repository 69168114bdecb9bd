// Command red serves the View in red.yaml with kcp's framework for virtual workspaces. `bench/viewsbeside.ts` builds it
// in the framework's own module, with an overlay.
package main

import (
	"context"
	"flag"
	"net"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	restclient "k8s.io/client-go/rest"

	kcpdynamic "github.com/kcp-dev/client-go/dynamic"
	"github.com/kcp-dev/logicalcluster/v3"
	apisv1alpha1 "github.com/kcp-dev/sdk/apis/apis/v1alpha1"
	"github.com/kcp-dev/virtual-workspace-framework/framework"
	"github.com/kcp-dev/virtual-workspace-framework/pkg/dynamic"
	"github.com/kcp-dev/virtual-workspace-framework/pkg/dynamic/apidefinition"
	"github.com/kcp-dev/virtual-workspace-framework/pkg/dynamic/apiserver"
	dynamiccontext "github.com/kcp-dev/virtual-workspace-framework/pkg/dynamic/context"
	"github.com/kcp-dev/virtual-workspace-framework/pkg/forwardingregistry"
	"github.com/kcp-dev/virtual-workspace-framework/pkg/rootapiserver"
)

const prefix = "/services/red/clusters/"

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// shown returns the object as the view shows it; nil for other objects.
func shown(object *unstructured.Unstructured) *unstructured.Unstructured {
	color, _, _ := unstructured.NestedString(object.Object, "data", "color")
	if color != "red" {
		return nil
	}
	next := object.DeepCopy()
	unstructured.RemoveNestedField(next.Object, "data", "token")
	next.SetManagedFields(nil)
	annotations := next.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["example.com/color"] = color
	next.SetAnnotations(annotations)
	return next
}

// filtered shows the red objects: an object that leaves the view is deleted with its last visible state.
func filtered(resource schema.GroupResource, storage *forwardingregistry.StoreFuncs) {
	get, list, watchAll := storage.GetterFunc, storage.ListerFunc, storage.WatcherFunc
	storage.GetterFunc = func(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
		object, err := get.Get(ctx, name, options)
		if err != nil {
			return nil, err
		}
		if next := shown(object.(*unstructured.Unstructured)); next != nil {
			return next, nil
		}
		return nil, errors.NewNotFound(resource, name)
	}
	storage.ListerFunc = func(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
		object, err := list.List(ctx, options)
		if err != nil {
			return nil, err
		}
		all := object.(*unstructured.UnstructuredList)
		items := make([]unstructured.Unstructured, 0, len(all.Items))
		for i := range all.Items {
			if next := shown(&all.Items[i]); next != nil {
				items = append(items, *next)
			}
		}
		all.Items = items
		return all, nil
	}
	storage.WatcherFunc = func(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
		before, err := list.List(ctx, &internalversion.ListOptions{})
		if err != nil {
			return nil, err
		}
		known := map[string]*unstructured.Unstructured{}
		for i := range before.(*unstructured.UnstructuredList).Items {
			object := &before.(*unstructured.UnstructuredList).Items[i]
			known[keyOf(object)] = shown(object)
		}
		inner, err := watchAll.Watch(ctx, options)
		if err != nil {
			return nil, err
		}
		return watch.Filter(inner, func(in watch.Event) (watch.Event, bool) { return through(in, known) }), nil
	}
}

func keyOf(object *unstructured.Unstructured) string {
	return logicalcluster.From(object).String() + "/" + object.GetNamespace() + "/" + object.GetName()
}

func through(in watch.Event, known map[string]*unstructured.Unstructured) (watch.Event, bool) {
	object, isObject := in.Object.(*unstructured.Unstructured)
	if in.Type == watch.Bookmark || !isObject {
		return in, true
	}
	key := keyOf(object)
	last, next := known[key], shown(object)
	if in.Type == watch.Deleted {
		delete(known, key)
		if last == nil {
			last = next
		}
		if last == nil {
			return in, false
		}
		last = last.DeepCopy()
		last.SetResourceVersion(object.GetResourceVersion())
		return watch.Event{Type: watch.Deleted, Object: last}, true
	}
	if next == nil {
		delete(known, key)
		if last == nil {
			return in, false
		}
		last = last.DeepCopy()
		last.SetResourceVersion(object.GetResourceVersion())
		return watch.Event{Type: watch.Deleted, Object: last}, true
	}
	known[key] = next
	if last == nil {
		return watch.Event{Type: watch.Added, Object: next}, true
	}
	return watch.Event{Type: in.Type, Object: next}, true
}

type readOnlyStorage struct {
	forwardingregistry.FactoryFunc
	forwardingregistry.ListFactoryFunc
	forwardingregistry.DestroyerFunc
	forwardingregistry.GetterFunc
	forwardingregistry.ListerFunc
	forwardingregistry.WatcherFunc
	forwardingregistry.TableConvertorFunc
	forwardingregistry.CategoriesProviderFunc
	forwardingregistry.ResetFieldsStrategyFunc
}

func (s readOnlyStorage) NamespaceScoped() bool   { return true }
func (s readOnlyStorage) GetSingularName() string { return "configmap" }

func storageOver(client kcpdynamic.ClusterInterface) apiserver.RestProviderFunc {
	return func(resource schema.GroupVersionResource, kind, listKind schema.GroupVersionKind, typer runtime.ObjectTyper, table rest.TableConvertor, namespaced bool, validator validation.SchemaValidator, _ map[string]validation.SchemaValidator, structural *structuralschema.Structural) (rest.Storage, map[string]rest.Storage) {
		strategy := customresource.NewStrategy(typer, namespaced, kind, nil, validator, nil, structural, nil, nil, nil)
		clients := func(context.Context) (kcpdynamic.ClusterInterface, error) { return client, nil }
		wrapper := forwardingregistry.StorageWrapperFunc(filtered)
		store, _ := forwardingregistry.NewStorage(context.Background(), resource, "", kind, listKind, strategy, nil, table, nil, clients, nil, wrapper)
		return readOnlyStorage{store.FactoryFunc, store.ListFactoryFunc, store.DestroyerFunc, store.GetterFunc, store.ListerFunc, store.WatcherFunc, store.TableConvertorFunc, store.CategoriesProviderFunc, store.ResetFieldsStrategyFunc}, nil
	}
}

func schemaOf() *apisv1alpha1.APIResourceSchema {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	data := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &text}}
	version := apisv1alpha1.APIResourceVersion{Name: "v1", Served: true, Storage: true}
	whole := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"data": data}}
	if err := version.SetSchema(whole); err != nil {
		panic(err)
	}
	return &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.configmaps.core"},
		Spec: apisv1alpha1.APIResourceSchemaSpec{
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "configmaps", Singular: "configmap", Kind: "ConfigMap", ListKind: "ConfigMapList"},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: []apisv1alpha1.APIResourceVersion{version},
		},
	}
}

type definitions apidefinition.APIDefinitionSet

func (d definitions) GetAPIDefinitionSet(context.Context, dynamiccontext.APIDomainKey) (apidefinition.APIDefinitionSet, bool, error) {
	return apidefinition.APIDefinitionSet(d), true, nil
}

func resolve(path string, ctx context.Context) (bool, string, context.Context) {
	rest, found := strings.CutPrefix(path, prefix)
	if !found {
		return false, "", ctx
	}
	name, _, _ := strings.Cut(rest, "/")
	cluster := request.Cluster{Name: logicalcluster.Name(name), Wildcard: name == "*"}
	ctx = dynamiccontext.WithAPIDomainKey(request.WithCluster(ctx, cluster), "red")
	return true, prefix + name, ctx
}

func redWorkspace(client kcpdynamic.ClusterInterface) framework.VirtualWorkspace {
	return &dynamic.DynamicVirtualWorkspace{
		RootPathResolver: framework.RootPathResolverFunc(resolve),
		Authorizer:       authorizerfactory.NewAlwaysAllowAuthorizer(),
		ReadyChecker:     framework.ReadyFunc(func() error { return nil }),
		BootstrapAPISetManagement: func(config genericapiserver.CompletedConfig) (apidefinition.APIDefinitionSetGetter, error) {
			definition, err := apiserver.CreateServingInfoFor(config, schemaOf(), "v1", storageOver(client))
			return definitions{configMaps: definition}, err
		},
	}
}

func main() {
	upstream := flag.String("server", "", "the URL of the shard")
	token := flag.String("token", "", "the token for the shard")
	flag.Parse()
	client, err := kcpdynamic.NewForConfig(&restclient.Config{Host: *upstream, BearerToken: *token, QPS: -1})
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	generic := genericapiserver.NewRecommendedConfig(serializer.NewCodecFactory(scheme))
	generic.ExternalAddress = listener.Addr().String()
	generic.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: "bench", Groups: []string{user.SystemPrivilegedGroup}}}, true, nil
	})
	generic.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config, err := rootapiserver.NewConfig(generic)
	if err != nil {
		panic(err)
	}
	config.Extra.VirtualWorkspaces = []rootapiserver.NamedVirtualWorkspace{{Name: "red", VirtualWorkspace: redWorkspace(client)}}
	server, err := rootapiserver.NewServer(config.Complete(), genericapiserver.NewEmptyDelegate())
	if err != nil {
		panic(err)
	}
	prepared := server.GenericAPIServer.PrepareRun()
	println("http://" + listener.Addr().String())
	panic(http.Serve(listener, prepared.Handler))
}
