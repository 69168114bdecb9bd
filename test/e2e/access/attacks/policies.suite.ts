import assert from 'node:assert/strict'
import { merge, post } from '../../../conformance/fixture.ts'
import { eventually } from '../../../support/oriel.ts'
import { at, configMap, configMaps, done, type Lair } from './lair.ts'

const group = 'admissionregistration.k8s.io'
const cluster = '/apis/core.kcp.io/v1alpha1/logicalclusters/cluster'

/** A policy for all resources of a group, with its binding, that writes into new and changed objects. */
const policy = (name: string, apiGroup: string, operations: readonly string[], change: string) => [
  {
    apiVersion: `${group}/v1`,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['*'], operations, resources: ['*'] }],
      },
      matchConditions: [
        { name: 'marked', expression: "has(object.metadata.labels) && 'mark' in object.metadata.labels" },
      ],
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: change } }],
      reinvocationPolicy: 'IfNeeded',
    },
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  },
]

const seen = 'JSONPatch{op: "add", path: "/metadata/labels/seen", value: "yes"}'
const annotated = (name: string, value: string): string =>
  `[${seen}, JSONPatch{op: "add", path: "/metadata/annotations", value: has(object.metadata.annotations) ? object.metadata.annotations : {}},` +
  ` JSONPatch{op: "add", path: "/metadata/annotations/${name.replaceAll('/', '~1')}", value: "${value}"}]`

export const changesNothingOfTheServer = (scene: Lair): void => {
  async function enact(...of: Parameters<typeof policy>): Promise<void> {
    const [rule, bound] = policy(...of)
    const url = `${at(scene.lair)}/apis/${group}/v1`
    done(await scene.mallory(`${url}/mutatingadmissionpolicies`, post(rule as object)), 201)
    done(await scene.mallory(`${url}/mutatingadmissionpolicybindings`, post(bound as object)), 201)
  }

  describe('cannot write fields of the server by policies', () => {
    it('the logical cluster of an object', async () => {
      await enact('elsewhere', '', ['CREATE'], annotated('kcp.io/cluster', scene.victim.cluster))
      const { name: _, ...metadata } = configMap('', { mark: 'a' }).metadata
      const marked = { ...configMap(''), metadata: { ...metadata, generateName: 'elsewhere-' } }
      const made = await eventually(
        () => scene.mallory(`${at(scene.lair)}${configMaps}`, post(marked)),
        ({ text }) => text.includes('"seen":"yes"'),
      )
      const stored = done(made, 201).json()
      assert.equal(stored.metadata.annotations?.['kcp.io/cluster'], scene.lair.cluster)
    })

    it('the path of its logical cluster', async () => {
      const before = done(await scene.mallory(`${at(scene.lair)}${cluster}`)).json().metadata.annotations
      await enact('path', 'core.kcp.io', ['UPDATE'], annotated('kcp.io/path', 'root'))
      const changed = await eventually(
        () => scene.mallory(`${at(scene.lair)}${cluster}`, merge({ metadata: { labels: { mark: 'a' } } })),
        ({ text }) => text.includes('"seen":"yes"'),
      )
      assert.deepEqual(done(changed).json().metadata.annotations, before)
    })
  })
}
