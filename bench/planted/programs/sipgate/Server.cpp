// Server.cpp : the receiver, the housekeeper, start and end
#include <csignal>

#include "Sip.h"

static volatile std::sig_atomic_t s_nSignal;

static void OnSignal(int nSignal) { s_nSignal = nSignal; }

void CReceiver::OnSip(unsigned n)
{
    SSipMessage Message;
    Message.nCallId = n / 3;
    Message.nUser = n * 2654435761u >> 16;
    Message.nChannel = static_cast<UINT16_>(n % MAX_CHANNELS);
    Message.nMethod = static_cast<BYTE8>((n >> 2) % M_COUNT);
    Message.nForwards = static_cast<BYTE8>(g_Config.nMaxForwards);
    std::memcpy(Message.szTag, "z9hG4bK-0000", 13);
    Message.szTag[8] = static_cast<char>('a' + n % 26);
    while (!m_rQueue.Put(Message))
        Rest();
    g_Stats.nSipIn.fetch_add(1, std::memory_order_relaxed);
}

void CReceiver::OnRtp(unsigned n)
{
    CChannel& rChannel = g_pChannels[n % MAX_CHANNELS];
    SPacket* pPacket = g_pPool->Alloc();
    pPacket->nSeq = static_cast<UINT16_>(n);
    pPacket->nLen = static_cast<UINT16_>(32 + n % 8);
    if (pPacket->nLen > g_pPool->PacketBytes())
        ++m_nDropped;
    unsigned nNoise = g_Seeds[MAX_MEDIA + MAX_WORKERS];
    for (unsigned i = 0; i < pPacket->nLen; i += 4)
    {
        nNoise = nNoise * 1664525u + 1013904223u;
        std::memcpy(pPacket->Data + i, &nNoise, 4);
    }
    g_Seeds[MAX_MEDIA + MAX_WORKERS] = nNoise;
    while (!rChannel.m_pJitter->Push(pPacket))
        Rest();
    rChannel.m_nRxPackets++;
    g_Stats.nRtpIn++;
}

void CReceiver::Run()
{
    for (unsigned n = 0; n < m_nRounds; ++n)
    {
        if (n % 2 == 0)
            OnSip(n);
        OnRtp(n * 5 + 3);
        Alive();
    }
    m_rQueue.Close();
    g_bReceiverDone.store(true, std::memory_order_release);
}

void CHousekeeper::Report()
{
    ++m_nReports;
    std::printf("%u ms: %u invites, rtp %u in %u out, %u mixed\n", g_nTickMs.load(), g_Stats.nInvites.load(),
                g_Stats.nRtpIn, g_Stats.nRtpOut.load(), g_Stats.nMixed);
}

void CHousekeeper::Run()
{
    unsigned nWheel[8] = {}, nAt = 1;
    while (!g_bShutdown.load(std::memory_order_relaxed))
    {
        const unsigned nNow = g_nTickMs.fetch_add(1, std::memory_order_relaxed) + 1;
        for (int i = 0; i < 20; ++i)
            nAt = nAt * 1103515245u + nWheel[nAt >> 29]++;
        m_rRegistrar.Expire(nNow);
        for (CThread* pThread : m_rThreads)
            pThread->Check(nNow);
        if (s_nSignal)
            CLogger::Write("signal");
        if (nNow % g_Config.nReportEvery == 0)
            Report();
        if ((nNow & 15) == 0)
            Rest();
    }
}

static CRegistrar* s_pRegistrar;
static SWorkerContext* s_pContexts[MAX_WORKERS];

static void CreateMedia()
{
    g_pCodecs[0] = new CCodecAlaw;
    g_pCodecs[1] = new CCodecAdpcm;
    g_pPool = new CPacketPool(PACKET_BYTES);
    g_pChannels = new CChannel[MAX_CHANNELS];
    for (unsigned n = 0; n < MAX_CHANNELS; ++n)
    {
        g_pChannels[n].m_pCodec = g_pCodecs[n & 1];
        g_pChannels[n].m_pJitter = new CJitterBuffer;
    }
    for (size_t n = 0; n < g_Seeds.size(); ++n)
        g_Seeds[n] = static_cast<unsigned>(n * 7717 + 11);
}

int main(int argc, char** argv)
{
    const unsigned nRounds = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 2000;
    if (const char* pszDomain = std::getenv("SIPGATE_DOMAIN"))
        g_Config.strDomain = pszDomain;
    std::signal(SIGUSR1, OnSignal);

    CreateMedia();
    s_pRegistrar = new CRegistrar;
    CMessageQueue* pQueue = new CMessageQueue;
    CDispatcher* pDispatcher = new CDispatcher(*s_pRegistrar);
    CMixer* pMixer = new CMixer;
    CStartGate Gate;
    std::vector<CThread*> Threads;
    for (unsigned n = 0; n < MAX_WORKERS; ++n)
    {
        s_pContexts[n] = new SWorkerContext{n, 0, 0};
        Threads.push_back(nullptr);
    }
    for (unsigned n = 0; n < MAX_WORKERS; ++n)
        Threads[n] = new CSipWorker(n, *pQueue, *pDispatcher, s_pContexts[n]);
    for (unsigned n = 0; n < MAX_MEDIA; ++n)
        Threads.push_back(new CMediaThread(n, *pMixer));
    Threads.push_back(new CReceiver(nRounds, *pQueue));
    Threads.push_back(pMixer);
    CHousekeeper House(*s_pRegistrar, Threads);

    for (CThread* pThread : Threads)
        pThread->Start(Gate);
    House.Start(Gate);
    Gate.Open();

    for (CThread* pThread : Threads)
        if (pThread != pMixer)
            pThread->Join();
    g_bShutdown.store(true, std::memory_order_relaxed);
    pMixer->Join();
    House.Join();

    unsigned long nTx = 0;
    for (unsigned n = 0; n < MAX_CHANNELS; ++n)
        nTx += g_pChannels[n].m_nTxPackets;
    for (unsigned n = 0; n < MAX_WORKERS + MAX_MEDIA; ++n)
        std::printf("lane %u: %lu loops, %lu idle\n", n, g_Loops[n].nLoops, g_Loops[n].nIdle);
    std::printf("%s: %u sip, %u invites, %u errors, %lu packets of %u, %u handled, %zu lines\n",
                g_Config.strDomain.c_str(), g_Stats.nSipIn.load(), pDispatcher->Calls(M_INVITE),
                g_Stats.nParseErrors.load(), nTx, g_Stats.nRtpIn,
                s_pContexts[0]->nHandled + s_pContexts[1]->nHandled, CLogger::Lines());
    return nTx == g_Stats.nRtpIn ? 0 : 1;
}
