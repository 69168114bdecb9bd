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
  readonly digests: string
  digested(surface: Surface): Digested
}

/** The version of the surface, and a digest of each declaration by name. */
interface Digested {
  readonly apiVersion: number
  readonly names: Readonly<Record<string, string>>
}

/** `+ added`, `- removed`, `~ changed` */
const changesOf = (before: Digested, now: Digested): readonly string[] => {
  const names = [...new Set([...Object.keys(before.names), ...Object.keys(now.names)])].sort()
  return names.flatMap(name => {
    const [old, next] = [before.names[name], now.names[name]]
    if (old === next) return []
    return [`${old === undefined ? '+' : next === undefined ? '-' : '~'} ${name}`]
  })
}

describe('the public surface', () => {
  let script: Script
  let surface: Surface
  before(async () => {
    script = (await import(pathToFileURL(join(root, 'scripts/reference.mjs')).href)) as Script
    surface = script.surface()
  })

  it('has at most 95 names', () => {
    const { length } = surface.groups.flatMap(({ names }) => names)
    assert.ok(length > 40 && length <= 95, `framework/index.ts exports ${length} names`)
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
  it('changes with an announcement only', () => {
    const announced = JSON.parse(readFileSync(join(root, script.digests), 'utf8')) as Digested
    const now = script.digested(surface)
    const how = `The public surface has changed: describe it in CHANGELOG.md, raise apiVersion in framework/contract/version.ts if plugins can tell, and run "npm run reference -- --announce"`
    assert.deepEqual(changesOf(announced, now), [], how)
    assert.equal(announced.apiVersion, now.apiVersion, how)
  })

  it('has an announcement that names what changed', () => {
    const before = { apiVersion: 1, names: { a: '1', b: '1', c: '1' } }
    const now = { apiVersion: 1, names: { a: '1', b: '2', d: '1' } }
    assert.deepEqual(changesOf(before, now), ['~ b', '- c', '+ d'])
  })
})
