import type { KubeObject } from '../../framework/index.ts'
import { post, put, widget } from '../conformance/fixture.ts'
import type { Sent } from '../support/client.ts'

const widgets = '/apis/example.com/v1/namespaces/default/widgets'
const configMaps = '/api/v1/namespaces/default/configmaps'
const yaml = { 'content-type': 'application/yaml' }
const text = (body: string, headers = {}): Sent => post(body, headers)
const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij']
  .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`)
  .join('\n')}\n`

/** A request that nobody should send, below the URL of a logical cluster with fixture F. */
export interface BadRequest {
  readonly path: string
  readonly sent?: Sent
  readonly code: number
  readonly reason?: string
  readonly message?: string | RegExp
  /** Why kcp answers otherwise, where it does. */
  readonly better?: string
}

const longName = 'a'.repeat(254)
const token = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')
const list = (query: string) => `${widgets}?${query}`
const encoded = encodeURIComponent

/** By area and name, with what chapter 40 says to them. */
export const badRequests: Readonly<Record<string, Readonly<Record<string, BadRequest>>>> = {
  'bodies that are none': {
    'an unfinished object': {
      path: widgets,
      sent: text('{'),
      code: 400,
      reason: 'BadRequest',
      message: /unexpected end of JSON input|json parse error/,
    },
    nothing: { path: widgets, sent: post(''), code: 400 },
    'a list': { path: widgets, sent: text('[]'), code: 400, message: /cannot unmarshal array/ },
    null: { path: widgets, sent: text('null'), code: 400 },
    'a word': { path: widgets, sent: text('"x"'), code: 400, message: /cannot unmarshal string/ },
    'bytes that are no text': {
      path: widgets,
      sent: text(Buffer.from([0xff, 0xfe, 0x00]).toString('latin1')),
      code: 400,
    },
    'broken YAML': { path: widgets, sent: text('a: [', yaml), code: 400 },
    'a YAML list': { path: widgets, sent: text('- a', yaml), code: 400 },
    'deep JSON': { path: widgets, sent: text(deep(20_000)), code: 400, message: /exceeded max depth/ },
    'deep YAML': { path: widgets, sent: text(`${'{a: '.repeat(20_000)}`, yaml), code: 400 },
    'a YAML bomb': { path: widgets, sent: text(bomb, yaml), code: 400 },
    'a list in place of metadata': {
      path: widgets,
      sent: text('{"apiVersion":"example.com/v1","kind":"Widget","metadata":[]}'),
      code: 400,
    },
    'numbers for labels': { path: widgets, sent: post(widget('a', {}, { labels: { a: 1 } })), code: 400 },
    'a number for a name': { path: widgets, sent: post(widget('a', {}, { name: 1 })), code: 400 },
  },
  'objects of other kinds': {
    'another kind': {
      path: widgets,
      sent: post({ ...widget('a'), kind: 'Gadget' }),
      code: 422,
      message: /kind: Invalid value: "Gadget": must be Widget/,
    },
    'another version': {
      path: widgets,
      sent: post({ ...widget('a'), apiVersion: 'example.com/v2' }),
      code: 400,
      message:
        'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    },
    'another built-in kind': {
      path: configMaps,
      sent: post({ ...configMap('a'), kind: 'Secret' }),
      code: 400,
      message: /cannot be handled as a ConfigMap/,
    },
  },

  'names and labels that are none': {
    'capital letters': {
      path: configMaps,
      sent: post(configMap('A')),
      code: 422,
      message: /metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of/,
    },
    'too long': {
      path: configMaps,
      sent: post(configMap(longName)),
      code: 422,
      message: /metadata\.name: Invalid value: .*must be no more than 253 (characters|bytes)/,
    },
    'no name': {
      path: configMaps,
      sent: post({ ...configMap(''), metadata: {} }),
      code: 422,
      message: /metadata\.name: Required value: name or generateName is required/,
    },
    'a slash': { path: configMaps, sent: post(configMap('a/b')), code: 422 },
    'a dotted namespace': {
      path: '/api/v1/namespaces',
      sent: post({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } }),
      code: 422,
      message: /must not contain dots/,
    },
    'a label key': {
      path: configMaps,
      sent: post(configMap('a', { labels: { '-a': '' } })),
      code: 422,
      message: /metadata\.labels: Invalid value: "-a": name part must consist of/,
    },
    'a label value': {
      path: configMaps,
      sent: post(configMap('a', { labels: { a: 'b c' } })),
      code: 422,
      message: /metadata\.labels: Invalid value: "b c": a valid label must be an empty string or consist of/,
    },
    'an annotation key': {
      path: configMaps,
      sent: post(configMap('a', { annotations: { 'a/b/c': '' } })),
      code: 422,
      message: /metadata\.annotations: Invalid value: "a\/b\/c"/,
    },
    'large annotations': {
      path: configMaps,
      sent: post(configMap('a', { annotations: { a: 'x'.repeat(262_145) } })),
      code: 422,
      message: /metadata\.annotations: Too long: may not be more than 262144 bytes/,
    },
    'an owner without a uid': {
      path: configMaps,
      sent: post(
        configMap('a', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: '' }] }),
      ),
      code: 422,
      message:
        /metadata\.ownerReferences(\[0\])?\.uid: (Required value|Invalid value: ""): must not be empty/,
    },
    'a finalizer': {
      path: configMaps,
      sent: post(configMap('a', { finalizers: ['a b'] })),
      code: 422,
      message: /metadata\.finalizers/,
    },
    'a finalizer that is no domain': {
      path: configMaps,
      sent: post(configMap('a', { finalizers: ['x'] })),
      code: 422,
      message:
        /metadata\.finalizers\[0\]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified/,
    },
    'too many generated letters': {
      path: configMaps,
      sent: post({ ...configMap(''), metadata: { generateName: 'A_' } }),
      code: 422,
      message: /metadata\.generateName: Invalid value: "A_"/,
    },
  },
  selectors: {
    'an open set': {
      path: list(`labelSelector=${encoded('a in (b')}`),
      code: 400,
      message: /^unable to parse requirement: found '', expected: ',' or '\)'/,
    },
    'a value that is none': {
      path: list(`labelSelector=${encoded('a=b c')}`),
      code: 400,
      message: /^found 'c', expected: ',' or 'end of string'/,
    },
    'a key that is none': { path: list(`labelSelector=${encoded('-a=b')}`), code: 400 },
    'a label value that is none': {
      path: list(`labelSelector=${encoded('a=-b-')}`),
      code: 400,
      message: /Invalid value: "-b-"/,
    },
    'a comparison with a word': {
      path: list(`labelSelector=${encoded('a>b')}`),
      code: 400,
      message: /for 'Gt', 'Lt' operators, the value must be an integer/,
    },
    'a field nobody selects by': {
      path: list(`fieldSelector=${encoded('spec.size=1')}`),
      code: 400,
      message: 'field label not supported: spec.size',
    },
    'a field of a built-in kind': {
      path: `${configMaps}?fieldSelector=${encoded('data.a=1')}`,
      code: 400,
      message: /"data\.a" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
    },
    'no operator': {
      path: list('fieldSelector=a'),
      code: 400,
      message: `invalid selector: 'a'; can't understand 'a'`,
    },
    'in a watch': { path: list('watch=1&labelSelector=%28'), code: 400 },
    'in a deletion': { path: list('labelSelector=%28'), sent: { method: 'DELETE' }, code: 400 },
  },
  'versions and pages': {
    'a word for a list': {
      path: list('resourceVersion=abc'),
      code: 400,
      message:
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      better: '500 upstream',
    },
    'a word for an object': {
      path: `${configMaps}/kube-root-ca.crt?resourceVersion=abc`,
      code: 400,
      better: '500 upstream',
    },
    'a word for a watch': { path: list('watch=1&resourceVersion=abc'), code: 400, better: '500 upstream' },
    'a negative one': { path: list('resourceVersion=-1'), code: 400, better: '500 upstream' },
    'an unknown match': {
      path: list('resourceVersion=1&resourceVersionMatch=x'),
      code: 422,
      message:
        /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""/,
    },
    'exactly any': {
      path: list('resourceVersion=0&resourceVersionMatch=Exact'),
      code: 422,
      message: /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/,
    },
    'a match for a page': {
      path: list('continue=x&resourceVersionMatch=Exact&resourceVersion=1'),
      code: 422,
      message: /resourceVersionMatch is forbidden when continue is provided/,
    },
    'a token that is none': { path: list('continue=x'), code: 400, message: /continue key is not valid/ },
    'a token without a start': {
      path: list(`continue=${token({ v: 'meta.k8s.io/v1', rv: 5 })}`),
      code: 400,
      message: /continue key is not valid: encoded start key empty \(version meta\.k8s\.io\/v1\)/,
    },
    'a token without a version': {
      path: list(`continue=${token({ v: 'meta.k8s.io/v1', start: 'a' })}`),
      code: 400,
      message:
        /continue key is not valid: incorrect encoded start resourceVersion \(version meta\.k8s\.io\/v1\)/,
    },
    'a token of another time': {
      path: list(`continue=${token({ v: 'meta.k8s.io/v9', rv: 5, start: 'a' })}`),
      code: 400,
      message: /continue key is not valid: server does not recognize this encoded version meta\.k8s\.io\/v9/,
    },
    'a token that climbs': {
      path: list(`continue=${token({ v: 'meta.k8s.io/v1', rv: 5, start: '../../../core' })}`),
      code: 400,
      message: /continue key is not valid/,
    },
    'a page of words': {
      path: list('limit=abc'),
      code: 400,
      message: /strconv\.ParseInt: parsing "abc": invalid syntax/,
    },
    'initial events of a list': {
      path: list('sendInitialEvents=true'),
      code: 422,
      message: /sendInitialEvents is forbidden for list/,
    },
    'a time of words': { path: list('watch=1&timeoutSeconds=abc'), code: 400 },
    'a deadline of words': {
      path: list('timeout=abc'),
      code: 400,
      message: /^invalid timeout specified in the request URL/,
    },
    'an update of another version': {
      path: `${configMaps}/kube-root-ca.crt`,
      sent: put(configMap('kube-root-ca.crt', { resourceVersion: 'abc' })),
      code: 400,
      better: '500 upstream',
    },
  },
  options: {
    'an unknown dry run': {
      path: `${configMaps}?dryRun=x`,
      sent: post(configMap('a')),
      code: 422,
      message:
        /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: \["x"\]: supported values: "All"/,
    },
    'an unknown validation': {
      path: `${configMaps}?fieldValidation=x`,
      sent: post(configMap('a')),
      code: 422,
      message:
        /^CreateOptions\.meta\.k8s\.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"/,
    },
    'a long manager': {
      path: `${configMaps}?fieldManager=${'x'.repeat(129)}`,
      sent: post(configMap('a')),
      code: 422,
      message: /fieldManager: Too long: may not be more than 128 bytes/,
    },
    'an unknown propagation': {
      path: `${configMaps}/a`,
      sent: { method: 'DELETE', body: { propagationPolicy: 'x' } },
      code: 422,
      message: /propagationPolicy: Unsupported value: "x"/,
    },
    'an unknown kind of options': {
      path: `${configMaps}/a`,
      sent: { method: 'DELETE', body: { kind: 'Widget', apiVersion: 'example.com/v1' } },
      code: 400,
    },
    'a patch of no kind': {
      path: `${configMaps}/a`,
      sent: { method: 'PATCH', body: {}, headers: { 'content-type': 'text/plain' } },
      code: 415,
      reason: 'UnsupportedMediaType',
    },
    'a forced merge': {
      path: `${configMaps}/kube-root-ca.crt?force=true`,
      sent: { method: 'PATCH', body: {}, headers: { 'content-type': 'application/merge-patch+json' } },
      code: 422,
      message: /force: Forbidden: may not be specified for non-apply patch/,
    },
    'a patch that is no list': {
      path: `${configMaps}/kube-root-ca.crt`,
      sent: { method: 'PATCH', body: {}, headers: { 'content-type': 'application/json-patch+json' } },
      code: 400,
    },
    'a merge that is no object': {
      path: `${configMaps}/kube-root-ca.crt`,
      sent: { method: 'PATCH', body: '[]', headers: { 'content-type': 'application/merge-patch+json' } },
      code: 400,
    },
    'a merge with a wrong type': {
      path: `${configMaps}/kube-root-ca.crt`,
      sent: {
        method: 'PATCH',
        body: { metadata: { labels: 1 } },
        headers: { 'content-type': 'application/merge-patch+json' },
      },
      code: 422,
    },
  },
  paths: {
    'an unknown resource': { path: '/api/v1/namespaces/default/nothings', code: 404 },
    'an unknown version': { path: '/apis/example.com/v7/widgets', code: 404, better: 'text' },
    'an unknown subresource': { path: `${configMaps}/a/nothing`, code: 404 },
    'a cluster-scoped kind in a namespace': {
      path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles',
      code: 404,
    },
    'a name of dots': { path: `${configMaps}/..`, code: 400, better: 'a redirect' },
    'a name of encoded dots': { path: `${configMaps}/%2e%2e`, code: 400, better: 'a redirect' },
    'an encoded slash': { path: `${configMaps}/a%2Fb`, code: 400, better: 'two segments' },
    'an encoded percent': { path: `${configMaps}/a%25b`, code: 400, better: 'a 404' },
    'a broken escape': { path: `${configMaps}/%zz`, code: 400, better: 'text' },
    'a null byte': { path: `${configMaps}/%00`, code: 400, better: 'a 404' },
    'no name to update': {
      path: configMaps,
      sent: put(configMap('a')),
      code: 405,
      reason: 'MethodNotAllowed',
    },
    'a creation at a name': {
      path: `${configMaps}/a`,
      sent: post(configMap('a')),
      code: 405,
      reason: 'MethodNotAllowed',
    },
    'an unknown method': { path: configMaps, sent: { method: 'OPTIONS' }, code: 405 },
    'another unknown method': { path: configMaps, sent: { method: 'PROPFIND' }, code: 405 },
  },
}
