import assert from 'node:assert/strict'
import { notRun } from '../../support/notrun.ts'
import { eventually, startOriel } from '../../support/oriel.ts'
import { etcdProgram, noEtcd } from '../../support/servers/etcd.ts'
import { gatedEtcd } from '../../support/servers/gatedetcd.ts'

/** Bytes: the keys have been read, the objects have not been written. */
const begun = 2_000

if (etcdProgram() === undefined) notRun('etcd that stops answering', noEtcd)
else
  describe('etcd that stops answering while a server starts', function () {
    this.timeout(120_000)
    const at = gatedEtcd()

    it('ends it with one sentence', async () => {
      const starting = startOriel({ args: ['--store', `etcd://${at().endpoint}`] })
      const refused = assert.rejects(starting, ({ message }: Error) => {
        const [first, ...lines] = message.trimEnd().split('\n')
        assert.equal(first, 'oriel start ended with 1:')
        const said = lines.filter(line => !line.startsWith('{'))
        assert.equal(said.length, 1, message)
        assert.match(said[0] ?? '', /^oriel: .*etcd .*\.$/)
        return true
      })
      await eventually(
        async () => at().gate.passed,
        passed => passed > begun,
      )
      at().gate.sever()
      await refused
    })
  })
