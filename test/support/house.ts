import { programFolders } from '../../cmd/views/ourfiles.ts'

export const folders = programFolders

/**
 * Allowed imports between folders; node: and the folder's own files are always allowed. `docs/adr` explains changes of
 * this table.
 */
export const allowedFolders: Readonly<Record<string, readonly string[]>> = {
  framework: [],
  kcp: ['framework'],
  cel: ['framework'],
  openapi: ['framework', 'kcp', 'cel'],
  authz: ['framework', 'kcp'],
  shard: ['framework', 'kcp', 'cel', 'openapi', 'authz'],
  remote: ['framework', 'kcp', 'openapi', 'authz'],
  proxy: ['framework', 'kcp', 'remote'],
  virtual: ['framework', 'kcp', 'authz', 'openapi'],
  cmd: folders,
  console: ['framework', 'authz', 'cmd'],
  testing: ['framework', 'kcp', 'openapi', 'authz', 'shard', 'cmd'],
}

/** Rooms of `framework/` that views may import besides its index, with names that authors of other views do not need. */
export const roomsForViews = [
  'async',
  'contract',
  'informers',
  'lens',
  'meta',
  'net',
  'publishing',
  'request',
  'selectors',
] as const

/** The rooms of the large folders in layers, from the lowest: a room imports rooms of lower layers only. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  framework: [
    'json',
    'apply/fieldpath meta',
    'apply/typed async formats selectors wire/protobuf',
    'apply request threads',
    'metrics wire',
    'contract patch',
    'audit fairness lens net publishing query responses',
    'authn cache discovery informers plugins tracing verbs',
    'authn/jwt computed impersonation',
    'server',
    '.',
  ],
  cel: ['values', 'library syntax', 'checker', 'schema', 'cost', 'planner', '.'],
  openapi: [
    'nodes',
    'definitions expressions jsonpath validation',
    'definitions/kcp definitions/kubernetes definitions/oriel structural views',
    'crd documents',
    '.',
  ],
  authz: ['rbac', 'chain', 'explain', 'reviews', '.'],
  shard: [
    'admission store webhook',
    'cache store/etcd store/lmdb store/relayed',
    'registry',
    'conversion',
    'entries',
    'apis',
    'cacheserver claims manifests',
    'bindings published tenancy',
    'controllers',
    'admission/kubernetes admission/quota bootstrap controllers/exports controllers/mounts tokens',
    'admission/kcp admission/policies peers',
    'admission/webhooks controllers/kubernetes migration',
    'controllers/workspaces',
    '.',
  ],
  remote: ['connection', 'reading', 'watches', 'copy', '.'],
  console: ['model', 'parts', 'pages', '.'],
  cmd: [
    'files process',
    'certificates flags',
    'authentication completion doctor explain newview store tracing users viewtools',
    'authorization',
    'audit isolation',
    'views',
    'isolatedview start',
    'cacheserver frontproxy',
    'shards',
    '.',
  ],
}

/** Third-party packages and the only files that may import them. */
export const allowedPackages: Readonly<Record<string, RegExp>> = {
  koa: /^framework\/server\/app\.ts$/,
  '@koa/router': /^framework\/server\/[a-z-]+\.ts$/,
  jose: /^framework\/authn\//,
  pino: /^framework\/contract\/log\.ts$/,
  'prom-client': /^framework\/metrics\/metrics\.ts$/,
  yaml: /^framework\/wire\/yaml\.ts$/,
  'openapi-types': /^openapi\/documents\//,
  re2js: /^framework\/formats\/pattern\.ts$/,
  'lru-cache': /^(openapi|framework|shard|authz|remote|cel|virtual)\/[a-z/-]+\.ts$/,
  tar: /^cmd\/store\/[a-z]+\.ts$/,
  '@grpc/grpc-js': /^shard\/store\/etcd\/[a-z]+\.ts$/,
  lmdb: /^shard\/store\/lmdb\/tables\.ts$/,
  undici: /^framework\/net\/[a-z]+\.ts$/,
  jiti: /^cmd\/views\/pluginmodule\.ts$/,
  preact: /^console\//,
  commander: /^cmd\/[a-z/-]+\.ts$/,
}

/** `markup`: lines of a function in a .tsx file, which are mostly elements. */
export const budgets = {
  room: 25,
  file: 300,
  function: 40,
  markup: 60,
  median: 10,
  parameters: 4,
  viewIndex: 60,
}

/** Folders beside the program: tests, benchmarks and examples. */
export const beside = { folders: ['test', 'bench', 'examples'], file: 300, function: 60, parameters: 5 }
