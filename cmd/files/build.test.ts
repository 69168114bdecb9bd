import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { versionAbove } from './build.ts'

describe('the version of the program', () => {
  it('is that of the closest package.json above', async () => {
    const directory = await temporaryDirectory('version')
    mkdirSync(join(directory, 'dist/bundle'), { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"version":"1.2.3"}')
    assert.equal(versionAbove(join(directory, 'dist/bundle')), '1.2.3')
  })

  it('is unknown outside of a package', () => assert.equal(versionAbove('/proc'), 'unknown'))
})
