import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from './connection.ts'
import { accepts, freePort } from './ports.ts'

/** nginx on the same hop. */
export interface Nginx extends Address {
  stop(): Promise<void>
}

const configuration = (directory: string, from: number, to: number): string => `
daemon off; worker_processes 1; worker_rlimit_nofile 16384; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
events { worker_connections 4096; }
http {
  access_log off; client_max_body_size 0; keepalive_requests 1000000000;
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  upstream target { server 127.0.0.1:${to}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${from};
    proxy_http_version 1.1; proxy_set_header Connection "";
    location / { proxy_pass http://target; proxy_buffers 16 64k; proxy_buffer_size 64k; }
    location /watch { proxy_pass http://target; proxy_buffering off; proxy_read_timeout 1h; }
  }
}
`

/** undefined without nginx on the PATH. */
export async function startNginx(directory: string, to: number): Promise<Nginx | undefined> {
  const port = await freePort()
  const file = join(directory, 'nginx.conf')
  await writeFile(file, configuration(directory, port, to))
  const child = spawn('nginx', ['-c', file, '-p', directory], { stdio: 'ignore' })
  const failed = new Promise<boolean>(resolve => void child.once('error', () => resolve(true)))
  for (;;) {
    if ((await Promise.race([failed, accepts(port)])) === true) break
    await sleep(20)
  }
  if (child.pid === undefined) return undefined
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
