import { admission, configMap, configMaps, dryRun, type Heavy, lair, post, times } from './requests.ts'

const apiVersion = 'admissionregistration.k8s.io/v1'

/** Mutating policies of which each doubles a text four times. */
const doubling = (name: string) => [
  post(`${admission}/mutatingadmissionpolicies`, {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
        ],
      },
      matchConditions: [{ name: 'mine', expression: "object.metadata.name == 'doubled'" }],
      mutations: times(4, () => ({
        patchType: 'JSONPatch',
        jsonPatch: {
          expression:
            '[JSONPatch{op: "replace", path: "/data/text", value: object.data.text + object.data.text}]',
        },
      })),
      reinvocationPolicy: 'Never',
    },
  }),
  post(`${admission}/mutatingadmissionpolicybindings`, {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  }),
]

const mutations: Heavy = {
  id: 'mutations',
  what: 'creates objects whose text mutating policies double 48 times',
  before: times(12, i => doubling(`doubling-${i}`)).flat(),
  request: dryRun(configMaps, configMap('doubled', { text: 'x'.repeat(1_000) })),
  connections: 4,
}

const review: Heavy = {
  id: 'review',
  what: 'asks for access with selectors of 2.4 MB',
  request: post(`${lair}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: {
      resourceAttributes: {
        verb: 'list',
        version: 'v1',
        resource: 'configmaps',
        labelSelector: { rawSelector: 'a=b,'.repeat(600_000) },
      },
    },
  }),
  connections: 4,
}

const deletions: Heavy = {
  id: 'deletions',
  what: 'deletes a collection of 4,000 objects in dry runs',
  before: times(4_000, i => post(configMaps, configMap(`doomed-${i}`, {}))),
  request: { method: 'DELETE', path: `${configMaps}?dryRun=All` },
  connections: 2,
}

const keys = Object.fromEntries(times(40_000, i => [`k${i}`, '']))

const parameters: Heavy = {
  id: 'parameters',
  what: 'creates objects beside a policy with 20 parameters of 40,000 keys',
  before: [
    ...times(20, i => post(configMaps, configMap(`parameter-${i}`, keys))),
    post(`${admission}/validatingadmissionpolicies`, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'parameters' },
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
        },
        matchConditions: [{ name: 'mine', expression: "object.metadata.name == 'judged'" }],
        validations: [{ expression: "params.metadata.name != ''" }],
      },
    }),
    post(`${admission}/validatingadmissionpolicybindings`, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'parameters' },
      spec: {
        policyName: 'parameters',
        paramRef: { selector: {}, parameterNotFoundAction: 'Deny' },
        validationActions: ['Deny'],
      },
    }),
  ],
  request: dryRun(configMaps, configMap('judged', {})),
  connections: 4,
}

/** Requests that store nothing. */
export const dryRuns: readonly Heavy[] = [mutations, review, deletions, parameters]
