# One image for every program; the command says which one it is:
#   dist/apps/global/src/main.js (the default), dist/apps/zone/src/main.js, dist/apps/ctl/src/main.js

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY libs ./libs
COPY apps ./apps
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
# REST, diagnostics, KDS (global), DNS and xDS (zone)
EXPOSE 5681 5680 5685 5653/tcp 5653/udp 5678
HEALTHCHECK --interval=5s --timeout=2s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:5680/ready').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps"]
CMD ["dist/apps/global/src/main.js"]
