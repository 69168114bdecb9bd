import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ViewProcess } from './viewprocess.ts'

describe('the process of isolated views', function () {
  this.timeout(60_000)

  const started = async (source: string): Promise<ViewProcess> => {
    const folder = await temporaryDirectory('viewprocess')
    const view = join(folder, 'view.mjs')
    await writeFile(view, source)
    const shard = { socketPath: join(folder, 'server.sock'), token: 'a' }
    return new ViewProcess(
      { view, options: {}, fresh: false, memory: 128 },
      { folder, shard, logLevel: 'silent' },
    )
  }

  for (const written of ['nonsense\\n', '{"views":[{"name":1}],"files":[]}\\n'])
    it(`is ended when it announces ${JSON.stringify(written)}`, async () => {
      const view = await started(`
        import { writeSync } from 'node:fs'
        writeSync(3, '${written}')
        setInterval(() => undefined, 1000)
        await new Promise(() => undefined)
      `)
      await assert.rejects(view.announced)
      assert.equal(await view.ended, 'its announcement is wrong')
    })
})
