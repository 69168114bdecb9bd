import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './support/source.ts'

interface PublicName {
  readonly name: string
  /** The declaration without bodies. */
  readonly code: string
  readonly doc: string
}

interface Surface {
  readonly plugin: PublicName
  readonly groups: readonly { readonly title: string; readonly names: readonly PublicName[] }[]
}

interface Script {
  /** Relative to the repository. */
  readonly page: string
  surface(): Surface
  renderReference(surface: Surface): string
}

describe('the public surface', () => {
  let script: Script
  let surface: Surface
  before(async () => {
    script = (await import(pathToFileURL(join(root, 'scripts/reference.mjs')).href)) as Script
    surface = script.surface()
  })

  it('has at most 80 names', () => {
    const { length } = surface.groups.flatMap(({ names }) => names)
    assert.ok(length > 40 && length <= 80, `framework/index.ts exports ${length} names`)
  })

  it('has a docstring for each name', () => {
    const names = [surface.plugin, ...surface.groups.flatMap(group => group.names)]
    assert.deepEqual(
      names.filter(({ doc }) => doc === '').map(({ name }) => name),
      [],
    )
  })

  it('is described in docs/reference.md', () => {
    const found = readFileSync(join(root, script.page), 'utf8')
    const isCurrent = found === script.renderReference(surface)
    assert.ok(
      isCurrent,
      `${script.page} differs from the declarations and docstrings: run "npm run reference"`,
    )
  })
})
