import { post } from '../../../conformance/fixture.ts'
import { type BadRequests, configMap, configMaps } from './request.ts'

const longName = 'a'.repeat(254)

export const names: BadRequests = {
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
}
