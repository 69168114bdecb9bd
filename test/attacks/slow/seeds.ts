import type { Input, Step } from './input.ts'

const core = '/clusters/one/api/v1/namespaces/default'
const apis = '/clusters/one/apis'
const json = 'application/json'
const definitions = `${apis}/apiextensions.k8s.io/v1/customresourcedefinitions`
const widgets = `${apis}/example.com/v1/namespaces/default/widgets`
const reviews = `${apis}/authorization.k8s.io/v1`

const post = (path: string, object: object, query = 'dryRun=All'): Step => ({
  method: 'POST',
  path: `${path}?${query}`,
  type: json,
  body: JSON.stringify(object),
})

const patch = (type: string, body: unknown, path = `${core}/configmaps/a?dryRun=All`): Step => ({
  method: 'PATCH',
  path,
  type: `application/${type}`,
  body: JSON.stringify(body),
})

const get = (path: string, accept?: string): Step => ({ method: 'GET', path, ...(accept && { accept }) })

const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'b',
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['example.com/a'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }],
    managedFields: [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ],
  },
  data: { a: 'b', c: 'd' },
}

/** The spec of the kind Widget in the schema of `definition`. */
const spec = {
  size: '1Gi',
  names: ['a', 'b'],
  parts: [{ name: 'a', value: 1 }],
  any: { a: [1, { b: null }] },
}

const properties = {
  size: { 'x-kubernetes-int-or-string': true, pattern: '^(a+)+$|^[0-9]+[A-Z]i$' },
  names: {
    type: 'array',
    items: { type: 'string', maxLength: 40, enum: ['a', 'b'] },
    'x-kubernetes-list-type': 'set',
  },
  parts: {
    type: 'array',
    maxItems: 100,
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 40 }, value: { type: 'integer', default: 1 } },
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-validations': [{ rule: "self.all(x, x.name != 'c')", messageExpression: "'a' + 'b'" }],
  },
  kept: { type: 'string' },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

/** A CustomResourceDefinition of the kind Widget. */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        selectableFields: [{ jsonPath: '.spec.kept' }],
        additionalPrinterColumns: [{ name: 'Parts', type: 'string', jsonPath: '.spec.parts[*].name' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties,
                anyOf: [{ required: ['names'] }, { not: { required: ['b'] } }],
              },
            },
          },
        },
      },
    ],
  },
}

export const widget = (name: string) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, labels: { a: name } },
  spec,
})

const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
    },
    matchConditions: [{ name: 'a', expression: 'request.name.matches("^(a|b)*$")' }],
    variables: [{ name: 'v', expression: '[1, 2, 3].map(x, [1, 2].map(y, x * y))' }],
    validations: [{ expression: 'variables.v.all(x, x.exists(y, y > 0)) || "a".replace("a", "b") == "c"' }],
  },
}

const view = {
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name: 'v' },
  spec: {
    source: { cluster: '.' },
    resources: [
      {
        group: '',
        resource: 'configmaps',
        verbs: ['get', 'list', 'watch'],
        where: 'object.data.all(k, object.data[k].startsWith("b")) && cluster.labels["a"] == "b"',
        hide: ['data.a', 'metadata.annotations[c]'],
        annotate: { 'example.com/a': 'object.metadata.name + "-" + cluster.path' },
      },
    ],
    columns: [{ name: 'A', jsonPath: '.data.a' }],
  },
}

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  rules: [{ apiGroups: [''], resources: ['configmaps', 'secrets/a'], verbs: ['get'], resourceNames: ['a'] }],
}

const resourceAttributes = {
  group: '',
  resource: 'configmaps',
  verb: 'list',
  namespace: 'default',
  labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
  fieldSelector: { rawSelector: 'metadata.name=a' },
}

const selectors = 'labelSelector=a+in+(b,c),!d,e!=f&fieldSelector=metadata.name!=a,metadata.namespace=default'

/** What mutations begin with: each kind of body, selector, expression and form of response. */
export const seeds: readonly Input[] = [
  { name: 'JSON', steps: [post(`${core}/configmaps`, configMap, 'dryRun=All&fieldValidation=Strict')] },
  {
    name: 'YAML',
    steps: [
      {
        method: 'POST',
        path: `${core}/configmaps?dryRun=All`,
        type: 'application/yaml',
        body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  a: &x "b"\n  c: |\n    d\n  e: *x\n  ? f\n  : !!str 1\n',
      },
    ],
  },
  {
    name: 'merge patch',
    steps: [patch('merge-patch+json', { data: { a: null, b: 'c' }, metadata: { labels: { a: 'c' } } })],
  },
  {
    name: 'JSON patch',
    steps: [
      patch('json-patch+json', [
        { op: 'add', path: '/data/b', value: 'c' },
        { op: 'move', from: '/data/b', path: '/data/c' },
        { op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' },
        { op: 'test', path: '/data/a', value: 'b' },
      ]),
    ],
  },
  {
    name: 'strategic merge patch',
    steps: [
      patch('strategic-merge-patch+json', {
        metadata: {
          finalizers: ['example.com/b'],
          $setElementOrder: { finalizers: ['example.com/b'] },
          '$deleteFromPrimitiveList/finalizers': ['a'],
          ownerReferences: [
            { uid: 'u', name: 'b' },
            { $patch: 'delete', uid: 'v' },
          ],
        },
        data: { a: 'c', $retainKeys: ['a'] },
      }),
    ],
  },
  {
    name: 'apply',
    steps: [
      patch(
        'apply-patch+yaml',
        { ...configMap, metadata: { name: 'a' } },
        `${core}/configmaps/a?dryRun=All&fieldManager=m&force=true`,
      ),
    ],
  },
  {
    name: 'definition and its objects',
    steps: [
      {
        method: 'PUT',
        path: `${definitions}/widgets.example.com`,
        type: json,
        body: JSON.stringify(definition),
      },
      post(widgets, widget('b')),
      get(widgets),
      get(widgets, 'application/json;as=Table;v=v1;g=meta.k8s.io'),
      {
        ...post(widgets, widget('a')),
        method: 'PATCH',
        path: `${widgets}/a?dryRun=All&fieldManager=m&force=true`,
        type: 'application/apply-patch+yaml',
      },
    ],
  },
  {
    name: 'admission policy',
    steps: [post(`${apis}/admissionregistration.k8s.io/v1/validatingadmissionpolicies`, policy)],
  },
  { name: 'View', steps: [post(`${apis}/views.oriel.dev/v1alpha1/views`, view)] },
  { name: 'role', steps: [post(`${apis}/rbac.authorization.k8s.io/v1/clusterroles`, role)] },
  { name: 'selectors', steps: [get(`${core}/configmaps?${selectors}`)] },
  { name: 'Table', steps: [get(`${widgets}?${selectors}`, 'application/json;as=Table;v=v1;g=meta.k8s.io')] },
  {
    name: 'protobuf list',
    steps: [get(`${core}/configmaps?limit=3&${selectors}`, 'application/vnd.kubernetes.protobuf')],
  },
  { name: 'YAML list', steps: [get(`${core}/configmaps`, 'application/yaml;q=0.5, */*;q=0.1')] },
  {
    name: 'review',
    steps: [
      post(
        `${reviews}/selfsubjectaccessreviews`,
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes },
        },
        '',
      ),
    ],
  },
  {
    name: 'deletion',
    steps: [
      {
        method: 'DELETE',
        path: `${core}/configmaps?dryRun=All&${selectors}`,
        type: json,
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: 'u' },
          propagationPolicy: 'Orphan',
        }),
      },
    ],
  },
]
