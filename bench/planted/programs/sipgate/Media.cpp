// Media.cpp : from jitter buffers through codecs to the mixer
#include "Media.h"

CChannel*             g_pChannels;
CPacketPool*          g_pPool;
CCodec*               g_pCodecs[2];
std::vector<unsigned> g_Seeds(MAX_MEDIA + MAX_WORKERS + 1);
std::atomic<bool>     g_bReceiverDone{false};

unsigned             CRtpSession::s_nJitterTarget = 1;
std::atomic<UINT32_> CRtpSession::s_nNextSsrc{1000};

static unsigned s_nConcealed[MAX_MEDIA];

SPacket* CPacketPool::Alloc()
{
    SPacket* pPacket;
    {
        std::lock_guard<std::mutex> Guard(m_Lock);
        pPacket = m_pFree;
        if (pPacket)
            m_pFree = pPacket->pNext;
        ++m_nOut;
    }
    return pPacket ? pPacket : new SPacket;
}

void CPacketPool::Free(SPacket* pPacket)
{
    std::lock_guard<std::mutex> Guard(m_Lock);
    pPacket->pNext = m_pFree;
    m_pFree = pPacket;
    --m_nOut;
}

int CCodecAlaw::Decode(const BYTE8* pData, unsigned nLen) const
{
    int nSum = 0;
    for (unsigned i = 0; i < nLen; ++i)
        nSum += ((pData[i] & 0x7f) << (pData[i] & 3)) - 128;
    return nSum * static_cast<int>(m_nGain);
}

int CCodecAdpcm::Decode(const BYTE8* pData, unsigned nLen) const
{
    int nPredict = 0, nSum = 0;
    for (unsigned i = 0; i < nLen; ++i)
    {
        nPredict += (pData[i] & 15) - 8;
        nSum += nPredict;
    }
    return nSum * static_cast<int>(m_nGain);
}

bool CJitterBuffer::Push(SPacket* pPacket)
{
    const UINT16_ nWrite = m_nWrite.load(std::memory_order_relaxed);
    if (static_cast<UINT16_>(nWrite - m_nRead.load(std::memory_order_acquire)) == JITTER_SLOTS)
        return false;
    m_pSlots[nWrite % JITTER_SLOTS] = pPacket;
    m_nWrite.store(static_cast<UINT16_>(nWrite + 1), std::memory_order_release);
    return true;
}

SPacket* CJitterBuffer::Pop()
{
    const UINT16_ nRead = m_nRead.load(std::memory_order_relaxed);
    if (m_nWrite.load(std::memory_order_acquire) == nRead)
        return nullptr;
    SPacket* pPacket = m_pSlots[nRead % JITTER_SLOTS];
    m_nRead.store(static_cast<UINT16_>(nRead + 1), std::memory_order_release);
    return pPacket;
}

bool CMediaThread::Serve(unsigned nChannel)
{
    CChannel& rChannel = g_pChannels[nChannel];
    SPacket* pPacket = rChannel.m_pJitter->Pop();
    if (!pPacket)
        return false;
    const CCodec* pCodec = rChannel.m_pCodec.load(std::memory_order_acquire);
    int nLevel = pCodec->Decode(pPacket->Data, pPacket->nLen);
    if (pCodec->Frame() > 25)
        nLevel >>= 1;
    if (pPacket->nLen < CRtpSession::s_nJitterTarget)
        ++s_nConcealed[m_nIndex];
    g_pPool->Free(pPacket);
    g_Seeds[m_nIndex] = g_Seeds[m_nIndex] * 69069u + 1;     // comfort noise
    nLevel += static_cast<int>(g_Seeds[m_nIndex] >> 28);
    rChannel.m_nTxPackets++;
    rChannel.m_nEnergy += nLevel >> 4;
    g_bTalking[nChannel] = nLevel > m_rMixer.Master();
    m_rMixer.SetLevel(m_nIndex, nLevel);
    g_Stats.nRtpOut.fetch_add(1, std::memory_order_relaxed);
    if (g_nTraceMask & (1u << nChannel))
        CLogger::Write("rtp out");
    return true;
}

void CMediaThread::Run()
{
    for (;;)
    {
        const bool bLast = g_bReceiverDone.load(std::memory_order_acquire);
        bool bAny = false;
        for (unsigned n = m_nIndex; n < MAX_CHANNELS; n += MAX_MEDIA)
            bAny |= Serve(n);
        Alive();
        g_Loops[m_nIndex].nLoops++;
        if (bAny)
            continue;
        if (bLast)
            break;
        g_Loops[m_nIndex].nIdle++;
        Rest();
    }
}

void CMixer::Run()
{
    int nAt = 0;
    while (!g_bShutdown.load(std::memory_order_relaxed))
    {
        int nSum = 0;
        for (unsigned n = 0; n < MAX_MEDIA; ++n)
            nSum += m_nLevels[n].load(std::memory_order_relaxed);
        m_nWindow[nAt++ & 31] = nSum;
        for (int i = 0; i < 32; ++i)
            nSum = (nSum * 7 + m_nWindow[i]) >> 3;
        m_nMaster.store(nSum | 1, std::memory_order_relaxed);
        ++m_nFrames;
        g_Stats.nMixed++;
        Alive();
        if ((m_nFrames & 15) == 0)
            Rest();
    }
}
