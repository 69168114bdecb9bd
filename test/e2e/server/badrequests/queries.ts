import { post, put } from '../../../conformance/fixture.ts'
import { type BadRequests, configMap, configMaps, widgets } from './request.ts'

const token = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')
const list = (query: string) => `${widgets}?${query}`
const encoded = encodeURIComponent

export const queries: BadRequests = {
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
}
