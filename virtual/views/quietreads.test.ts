import assert from 'node:assert/strict'
import { type ResourceStorage, StatusError } from '../../framework/index.ts'
import { quietReads } from './quietreads.ts'

describe('reads of objects with hidden fields', () => {
  const reads = (code: number) => {
    const error = new StatusError(code, '', 'conversion failed: strconv.Atoi: parsing "sesame"')
    const failing = async function* (): AsyncGenerator<never, never> {
      yield* []
      throw error
    }
    const source = {
      get: () => Promise.reject(error),
      list: failing,
      watch: failing,
    } as unknown as ResourceStorage
    const { get, list, watch } = quietReads(source)
    const all = async (values: AsyncGenerator<unknown>) => {
      for await (const _ of values);
    }
    return {
      get: async () => get({} as never, { cluster: 'one', name: 'a', namespace: '' }),
      list: () => all(list({} as never, { cluster: 'one' })),
      watch: () => all(watch({} as never, { cluster: 'one' } as never)),
    }
  }

  for (const read of ['get', 'list', 'watch'] as const) {
    it(`tell no reason of a failure: ${read}`, () =>
      assert.rejects(reads(500)[read](), ({ code, message }: StatusError) => {
        assert.ok(!message.includes('sesame'), message)
        return code === 500
      }))

    it(`pass refusals on: ${read}`, () => assert.rejects(reads(410)[read](), /sesame/))
  }
})
