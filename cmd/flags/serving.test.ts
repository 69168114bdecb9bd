import assert from 'node:assert/strict'
import { publicUrl } from './serving.ts'

describe('the URL of a server', () => {
  const urlOf = (bindAddress: string, externalHostname?: string): string =>
    publicUrl({ bindAddress, port: 6443, ...(externalHostname !== undefined && { externalHostname }) })

  it('has an address at which the server listens', () => {
    for (const address of ['127.0.0.1', '0.0.0.0', '::'])
      assert.equal(urlOf(address), 'https://localhost:6443', address)
    assert.equal(urlOf('::1'), 'https://[::1]:6443')
    assert.equal(urlOf('192.0.2.1'), 'https://192.0.2.1:6443')
    assert.equal(urlOf('::1', 'oriel.example.com'), 'https://oriel.example.com:6443')
  })
})
