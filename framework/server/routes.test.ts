import assert from 'node:assert/strict'
import { resolveUrl } from './routes.ts'

describe('the URL of a view of another program', () => {
  const hintOf = (path: string): string => {
    const url = { method: 'GET', path, query: new URLSearchParams() }
    const found = resolveUrl([], url, { crew: 'ask the captain' })
    return 'hint' in found ? found.hint : ''
  }

  it('has a sentence that names the program', () =>
    assert.equal(
      hintOf('/services/crew/clusters/*/api/v1/configmaps'),
      ': this program does not serve the view "crew": ask the captain',
    ))

  it('has none for an unknown view', () => {
    for (const path of [
      '/services/crews/clusters/*/api',
      '/services/toString/clusters/*/api',
      '/clusters/crew/api',
    ])
      assert.equal(hintOf(path), '')
  })
})
