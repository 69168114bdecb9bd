import assert from 'node:assert/strict'
import { type AdmissionAttributes, inOneVersion } from '../../../framework/contract/admission.ts'
import type { Action, Authorizer } from '../../../framework/contract/authorizer.ts'
import { allow, deny } from '../../../framework/contract/authorizer.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { testContext } from '../../../test/support/context.ts'
import { afterSettingBack } from '../../../test/support/time/clocks.ts'
import { viewAdmission } from './view.ts'

const view = (source: object, verbs: readonly string[]): KubeObject => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name: 'a' },
  spec: { source, resources: [{ group: 'example.com', resource: 'widgets', verbs }] },
})

function admission(permitted: readonly string[], count = 0) {
  const asked: Action[] = []
  const authorizer: Authorizer = {
    authorize: async (_user, action) => {
      asked.push(action)
      return permitted.includes(action.verb) ? allow('') : deny('')
    },
  }
  const stored = Array.from({ length: count }, (_, i) => ({ name: `stored-${i}` }))
  const cache = { resource: () => ({ items: () => stored }) } as never
  const { validate } = viewAdmission({ authorizer, cache })
  const write = (object: KubeObject, old?: KubeObject): Promise<void> => {
    const request: AdmissionAttributes = {
      operation: old === undefined ? 'CREATE' : 'UPDATE',
      group: 'views.oriel.dev',
      resource: 'views',
      ...inOneVersion('v1alpha1'),
      subresource: '',
      key: { cluster: 'one', namespace: '', name: object.metadata.name ?? '' },
      dryRun: false,
      object,
      ...(old && { old }),
    }
    return (async () => validate?.(testContext(), request))()
  }
  return { write, asked }
}

describe('the admission of Views', () => {
  const own = { cluster: '.' }

  it('needs the verbs of the View, and list, on its source', async () => {
    await admission(['get', 'list']).write(view(own, ['get']))
    await assert.rejects(
      admission(['get']).write(view(own, ['get'])),
      /you have: list on widgets.example.com$/,
    )
    await assert.rejects(admission(['list']).write(view(own, ['delete'])), /delete on widgets.example.com$/)
    const { write, asked } = admission(['get', 'list'])
    await write(view({ apiExport: 'e' }, ['get']))
    assert.deepEqual(
      asked.map(
        ({ verb, resource }) => `${verb} ${resource?.resource}/${resource?.subresource} ${resource?.name}`,
      ),
      ['list apiexports/content e', 'get apiexports/content e'],
    )
  })

  it('needs them for a change of the spec only', async () => {
    const before = view(own, ['get'])
    await admission([]).write({ ...before, metadata: { name: 'a', labels: { a: 'b' } } }, before)
    await assert.rejects(admission(['list']).write(view(own, ['get', 'delete']), before), /forbidden/)
  })

  it('limits the characters of all expressions, those of columns for each resource', async () => {
    const { write } = admission(['list'])
    const spec = (length: number, count: number) => ({
      resources: Array.from({ length: count }, (_, i) => ({ group: '', resource: `r${i}`, verbs: ['list'] })),
      columns: [{ name: 'c', expression: `'${'x'.repeat(length)}'` }],
      ...{ source: { cluster: '.' } },
    })
    const withSpec = (length: number, count: number) => ({
      ...view(own, ['list']),
      spec: spec(length, count),
    })
    await write(withSpec(400, 32))
    await assert.rejects(write(withSpec(420, 32)), /have 16704 characters .*, at most 16384 are allowed/)
    await assert.rejects(write(withSpec(2, 1_000)), /at most 16384/)
  })

  it('limits the number of Views of a workspace', async () => {
    await admission(['list'], 99).write(view(own, ['list']))
    await assert.rejects(admission(['list'], 100).write(view(own, ['list'])), /at most 100 Views/)
  })

  it('limits the number of Views that are created at once', async () => {
    const { write } = admission(['list'], 90)
    const named = (i: number): KubeObject => ({ ...view(own, ['list']), metadata: { name: `v-${i}` } })
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => write(named(i))))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10)
    await write(named(0))
  })

  it('limits them no longer by one that was not stored in ten seconds, also when the clock was set back', async () => {
    const { write } = admission(['list'], 99)
    const named = (name: string): KubeObject => ({ ...view(own, ['list']), metadata: { name } })
    await write(named('a'))
    await assert.rejects(write(named('b')), /at most 100 Views/)
    await afterSettingBack(10_000, () => write(named('b')))
  })
})
