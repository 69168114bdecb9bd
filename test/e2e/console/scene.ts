import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type JsonClient, jsonClient } from '../../../framework/net/jsonclient.ts'
import { readText } from '../../support/oriel.ts'
import type { People } from '../../support/people.ts'

export const total = 1_000
export const nameOf = (i: number): string => `w-${String(i).padStart(4, '0')}`
/** A text of a tenant that would be executed as markup. */
export const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>'

/** A Workspace with a logical cluster, or a mount of nothing. */
export const workspaceOf = (i: number, isMount = false) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: nameOf(i) },
  ...(isMount && {
    spec: { mount: { ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', namespace: 'default' } } },
  }),
})

/** The workspaces of root. */
export const workspacesPath = '/apis/tenancy.kcp.io/v1alpha1/workspaces'

/** A client of root. */
export async function rootClient({ oriel }: People): Promise<JsonClient> {
  const ca = await readText(join(oriel.directory, 'ca.crt'))
  return jsonClient({ server: `${oriel.url}/clusters/root`, ca, token: 'masters-token' })
}

/** Creates 1,000 workspaces in root, `w-0000` and so on; the first ones have logical clusters, the others are mounts. */
export async function manyWorkspaces(people: People, real = 5): Promise<void> {
  const client = await rootClient(people)
  for (let i = 0; i < total; i += 50) {
    const bodies = Array.from({ length: 50 }, (_, j) => workspaceOf(i + j, i + j >= real))
    const told = await Promise.all(bodies.map(body => client(workspacesPath, { body })))
    assert.ok(
      told.every(({ status }) => status === 201),
      JSON.stringify(told.find(({ status }) => status !== 201)),
    )
  }
}

/** A kind whose column has text of tenants. */
export const noteDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'notes.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'notes', singular: 'note', kind: 'Note', listKind: 'NoteList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [{ name: hostile, type: 'string', jsonPath: '.text' }],
      },
    ],
  },
}

export const configMap = (name: string, text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { text },
})
