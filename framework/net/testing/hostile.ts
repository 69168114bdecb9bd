const ok = 'HTTP/1.1 200 OK\r\n'
const length = 'Content-Length: 2\r\n'
const rest = `${length}\r\nok`

/** What a server that requests are passed on to may send, as Latin-1. */
export const hostile: Readonly<Record<string, string>> = {
  'a content type twice': `${ok}Content-Type: a/b\r\nContent-Type: c/d\r\n${rest}`,
  'headers twice of which HTTP/2 has one': `${ok}${['Age', 'ETag', 'Server', 'Location', 'Retry-After', 'Last-Modified', 'Date', 'Expires'].map(name => `${name}: 1\r\n${name}: 2\r\n`).join('')}${rest}`,
  'two lengths': `${ok}${length}Content-Length: 3\r\n\r\nokk`,
  'a length and chunks': `${ok}${length}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'control characters': `${ok}X-A: a\u0001b\r\n${rest}`,
  'a zero byte': `${ok}X-A: a\u0000b\r\n${rest}`,
  'Latin-1': `${ok}X-A: \u00e9\r\n${rest}`,
  'a folded header': `${ok}X-A: a\r\n b\r\n${rest}`,
  'headers of a connection': `${ok}Connection: X-A, close\r\nX-A: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nTE: x\r\nHTTP2-Settings: x\r\n${rest}`,
  trailers: `${ok}Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n`,
  'a status of 999': `HTTP/1.1 999 Odd\r\n${rest}`,
  'a status of 100': `HTTP/1.1 100 Continue\r\n\r\n${ok}${rest}`,
  'a status of 103': `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${ok}${rest}`,
  'a status of 101': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  'a status of 000': `HTTP/1.1 000 None\r\n${rest}`,
  'a status of 204 with a body': `HTTP/1.1 204 No Content\r\n${rest}`,
  'a status of 304 with a body': `HTTP/1.1 304 Not Modified\r\n${rest}`,
  'a location that is no URL': `HTTP/1.1 302 Found\r\nLocation: //[::bad\r\n${rest}`,
  'a policy of two lines': `${ok}Content-Security-Policy: a\r\nContent-Security-Policy: b\r\n${rest}`,
  'more than its length': `${ok}${length}\r\nok and more`,
  'less than its length': `${ok}Content-Length: 100\r\n\r\nok`,
  'a negative length': `${ok}Content-Length: -1\r\n\r\nok`,
  'broken chunks': `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nok`,
  'broken gzip': `${ok}Content-Encoding: gzip\r\n${rest}`,
  'two responses': `${ok}${rest}${ok}${rest}`,
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  nothing: '',
}

export const plainAnswer = ok + rest
