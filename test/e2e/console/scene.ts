import assert from 'node:assert/strict'
import { join } from 'node:path'
import { jsonClient } from '../../../framework/net/jsonclient.ts'
import { readText } from '../../support/oriel.ts'
import type { People } from '../../support/people.ts'

export const total = 1_000
export const nameOf = (i: number): string => `w-${String(i).padStart(4, '0')}`
/** A text of a tenant that would be executed as markup. */
export const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>'

/**
 * The first workspaces have logical clusters; the others are mounts, because 1,000 logical clusters take minutes on a busy
 * machine, and are the same to the console.
 */
const workspaceOf = (i: number) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: nameOf(i) },
  ...(i >= 5 && {
    spec: { mount: { ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', namespace: 'default' } } },
  }),
})

/** Creates 1,000 workspaces in root: `w-0000` and so on. */
export async function manyWorkspaces({ oriel }: People): Promise<void> {
  const ca = await readText(join(oriel.directory, 'ca.crt'))
  const client = jsonClient({ server: `${oriel.url}/clusters/root`, ca, token: 'masters-token' })
  for (let i = 0; i < total; i += 50) {
    const bodies = Array.from({ length: 50 }, (_, j) => workspaceOf(i + j))
    const path = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    const told = await Promise.all(bodies.map(body => client(path, { body })))
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
        ...{ name: 'v1', served: true, storage: true },
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
