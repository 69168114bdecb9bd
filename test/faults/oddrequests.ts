import fc from 'fast-check'
import { widget } from '../conformance/fixture.ts'

const odd = [
  '',
  '.',
  '..',
  '*',
  '%2e%2e',
  '%2F',
  '%00',
  '%zz',
  '%25',
  '%F0%9F',
  '~',
  'A',
  ':',
  'a:b',
  '__proto__',
]

const segment = fc.constantFrom(
  ...[
    'api',
    'apis',
    'v1',
    'v1alpha1',
    'v1beta1',
    'example.com',
    'widgets',
    'namespaces',
    'default',
    'a',
    'status',
  ],
  ...[
    'scale',
    'watch',
    'proxy',
    'openapi',
    'v2',
    'v3',
    'configmaps',
    'secrets',
    'events',
    'finalize',
    'token',
  ],
  ...['apis.kcp.io', 'apibindings', 'core.kcp.io', 'logicalclusters', 'cluster', 'version', 'healthz'],
  ...odd,
)

const good = fc.constantFrom(
  '/apis/example.com/v1/namespaces/default/widgets',
  '/apis/example.com/v1/namespaces/default/widgets/a',
  '/apis/example.com/v1/namespaces/default/widgets/a/status',
  '/apis/example.com/v1/namespaces/default/widgets/a/scale',
  '/apis/example.com/v1beta1/widgets',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/a',
  '/apis/apis.kcp.io/v1alpha2/apibindings',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/a',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/openapi/v3/apis/example.com/v1',
  '/apis',
)

export const below = fc.oneof(
  { weight: 3, arbitrary: good },
  {
    weight: 1,
    arbitrary: fc.tuple(good, fc.integer({ min: 1, max: 7 }), segment).map(([path, at, text]) => {
      const parts = path.split('/')
      return [...parts.slice(0, at), text, ...parts.slice(at + 1)].join('/')
    }),
  },
  { weight: 1, arbitrary: fc.array(segment, { maxLength: 8 }).map(parts => `/${parts.join('/')}`) },
)

const value = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    'true',
    'All',
    'Exact',
    'NotOlderThan',
    'Strict',
    'Warn',
    'a=b',
    '!a',
    'a in (b',
  ),
  fc.constantFrom(
    'metadata.name=a',
    'spec.color=red',
    '9999999999999999999999',
    'Foreground',
    'Object',
    '\u0000',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

const parameter = fc.constantFrom(
  ...[
    'limit',
    'continue',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'dryRun',
    'fieldManager',
  ],
  ...[
    'fieldValidation',
    'sendInitialEvents',
    'allowWatchBookmarks',
    'pretty',
    'propagationPolicy',
    'includeObject',
  ],
  ...[
    'watch',
    'timeout',
    'timeoutSeconds',
    'force',
    'hash',
    'verbose',
    'orphanDependents',
    'gracePeriodSeconds',
  ],
)

export const query = fc
  .array(fc.tuple(parameter, value), { maxLength: 3 })
  .map(pairs => new URLSearchParams(pairs.map(([name, text]): [string, string] => [name, text])).toString())

export const header = fc.oneof(
  fc.record({
    name: fc.constant('accept'),
    text: fc.constantFrom(
      ...[
        '*/*',
        'application/yaml',
        'application/json;as=Table;v=v1;g=meta.k8s.io',
        'application/vnd.kubernetes.protobuf',
      ],
      ...[
        'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
        ';;=,q=x',
        'application/json;stream=watch',
      ],
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    ),
  }),
  fc.record({
    name: fc.constant('content-type'),
    text: fc.constantFrom(
      ...[
        'application/json',
        'application/yaml',
        'application/vnd.kubernetes.protobuf',
        'text/plain',
        ';',
        'application/json; charset=x',
      ],
      ...['application/merge-patch+json', 'application/json-patch+json', 'application/apply-patch+yaml'],
      'application/strategic-merge-patch+json',
    ),
  }),
  fc.record({
    name: fc.constantFrom(
      'if-none-match',
      'accept-encoding',
      'audit-id',
      'impersonate-user',
      'impersonate-group',
      'x-remote-user',
    ),
    text: fc.constantFrom('*', 'gzip', 'a', 'system:masters', '"x"', 'br;q=0'),
  }),
  fc.record({
    name: fc.constantFrom('x-kcp-virtual-resource-hops', 'user-agent', 'range'),
    text: fc.constantFrom('5', '-1', 'x', 'curl/8'),
  }),
)

const seed = JSON.stringify({
  ...widget('a', { size: 1, ports: [{ name: 'a' }], tags: ['x'] }, { labels: { a: 'b' } }),
})

const snippet = fc.constantFrom(
  ...[
    'null',
    '{}',
    '[]',
    '1e999',
    '-0',
    '"',
    '{',
    '}',
    ',',
    ':',
    '\\u0000',
    '"__proto__":1,',
    '9007199254740993',
    '\n- a',
    '&a ',
    '*a',
  ],
)

export const body = fc.oneof(
  fc.constant(''),
  fc.constant(seed),
  fc.json({ maxDepth: 4 }),
  fc
    .tuple(fc.nat(seed.length), fc.nat(8), snippet)
    .map(([at, cut, text]) => seed.slice(0, at) + text + seed.slice(at + cut)),
  fc.jsonValue({ maxDepth: 3 }).map(spec => JSON.stringify({ ...JSON.parse(seed), spec })),
  fc.jsonValue({ maxDepth: 3 }).map(metadata => JSON.stringify({ ...JSON.parse(seed), metadata })),
  fc
    .array(
      fc.record({
        op: fc.constantFrom('add', 'remove', 'test', 'copy', 'move', 'replace', 'x'),
        path: fc.constantFrom('', '/', '/spec', '/spec/ports/-', '/metadata/name', '/~2', 'a'),
        from: fc.constantFrom('', '/spec', 'x'),
        value: fc.jsonValue({ maxDepth: 1 }),
      }),
      { maxLength: 4 },
    )
    .map(operations => JSON.stringify(operations)),
  fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
)
