import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { loopback } from '../../../framework/request/user.ts'
import { admitting, create, update } from './testing/admitting.ts'

describe('admission of workspace types', () => {
  const scene = admitting()

  const typeWith = (name: string, spec: object): KubeObject => ({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceType',
    metadata: { name },
    spec,
  })
  const many = <T>(count: number, item: (i: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, i) => item(i))
  const reference = (i: number) => ({ path: 'root', name: `t${i}` })
  const limited: Record<string, [most: number, spec: (count: number) => object]> = {
    'spec.authenticationConfigurations': [
      16,
      count => ({ authenticationConfigurations: many(count, () => ({ name: 'same' })) }),
    ],
    'spec.defaultAPIBindings': [
      200,
      count => ({ defaultAPIBindings: many(count, i => ({ path: 'root', export: `e${i}` })) }),
    ],
    'spec.extend.with': [200, count => ({ extend: { with: many(count, reference) } })],
    'spec.limitAllowedChildren.types': [
      1_000,
      count => ({ limitAllowedChildren: { types: many(count, reference) } }),
    ],
    'spec.limitAllowedParents.types': [
      1_000,
      count => ({ limitAllowedParents: { types: many(count, reference) } }),
    ],
  }
  for (const [field, [most, spec]] of Object.entries(limited))
    it(`refuses more items of ${field} than one step of work is for`, async () => {
      const { workspaceTypes } = scene.tenancy
      const name = `of-${most}-${field.length}`
      await create(scene, loopback, workspaceTypes, typeWith(name, spec(most)))
      const text = `${field}: Too many: ${most + 1}: must have at most ${most} items`
      await assert.rejects(
        create(scene, loopback, workspaceTypes, typeWith(`${name}-more`, spec(most + 1))),
        {
          message: new RegExp(text),
        },
      )
      await assert.rejects(
        update(scene, loopback, [workspaceTypes, name], object => ({ ...object, spec: spec(most + 1) })),
        { message: new RegExp(text) },
      )
    })
})
