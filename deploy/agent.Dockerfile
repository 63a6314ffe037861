# The agent of a machine, on top of the image of the control planes:
#   docker build -t causeway . && docker build -t causeway-agent -f deploy/agent.Dockerfile .
#   docker run --network host --cap-add NET_ADMIN -v /etc/causeway:/etc/causeway:ro -v causeway-agent:/var/lib/causeway-agent causeway-agent
ARG BASE=causeway
FROM ${BASE}
# Root, with the capabilities that the container is given: it writes rules of the kernel and runs checks as other users.
# hadolint ignore=DL3002
USER 0
# Whatever versions of them Debian has now: those of before are no longer there.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends nftables iproute2 && rm -rf /var/lib/apt/lists/*
# Keys, certificates, and what the zone told it.
VOLUME /var/lib/causeway-agent
ENV CAUSEWAY_AGENT_STATE=/var/lib/causeway-agent
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=2s --start-period=20s \
  CMD ["causeway-agent", "status"]
ENTRYPOINT ["causeway-agent"]
CMD ["run", "-f", "/etc/causeway/agent.yaml"]
